// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO

/// A browser's connection: one request, which the site answers.
package struct WebSession: ExportSession {
  /// A request, and the client's address.
  package struct Request: Sendable {
    /// The head, or why the request is refused.
    var head: Result<HTTPRequest, HTTPRequest.Refusal>
    /// The body of a POST.
    var body: [UInt8] = []
    /// The client's address.
    var peer: NetworkAddress?

    /// The clients that are counted together with this one.
    var origin: FairPlaces.Origin { FairPlaces.Origin(peer) }
  }

  /// The time limit for a request, and for each piece of the reply.
  package static let patience = Duration.seconds(10)

  private let peer: NetworkAddress?
  private let bodyLimit: Int?
  private var reader: HTTPHeadReader
  private var head: Result<HTTPRequest, HTTPRequest.Refusal>?
  private var isDone = false
  package private(set) var following: (@Sendable () async -> [UInt8]?)?

  /// A session with the client at this address. `bodyLimit` is the most bytes of a form; nil if forms aren't accepted.
  package init(_ peer: NetworkAddress?, bodyLimit: Int? = nil) {
    (self.peer, self.bodyLimit) = (peer, bodyLimit)
    reader = HTTPHeadReader(bodyLimit: bodyLimit ?? 0)
  }

  package var login: ExportLogin? { nil }
  package var timeout: [UInt8] { isDone ? [] : WebReply.refusal(.requestTimeout).bytes }

  package mutating func take(_ bytes: [UInt8]) { reader.take(bytes) }

  package mutating func next() -> Request? {
    if isDone { return nil }
    if head == nil, let bytes = reader.next() { head = read(bytes) }
    guard let head else { return nil }
    let count = (try? head.get())?.contentLength ?? 0
    guard reader.rest.count >= count else { return nil }
    isDone = true
    return Request(head: head, body: Array(reader.rest.prefix(count)), peer: peer)
  }

  private func read(_ bytes: [UInt8]?) -> Result<HTTPRequest, HTTPRequest.Refusal> {
    Result { () throws(HTTPRequest.Refusal) in
      guard let bytes else { throw .headTooLarge }
      return try HTTPRequest(head: bytes, bodyLimit: bodyLimit)
    }
  }

  package func needsReadings(_ request: Request) -> Bool { true }

  package mutating func answer(_ request: Request, from reply: WebReply, logins: [ExportLogin]) -> ExportAnswer {
    following = reply.following
    return ExportAnswer(reply.bytes, isLast: following == nil)
  }
}
