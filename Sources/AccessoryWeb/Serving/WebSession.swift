// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO

/// A browser's connection: one request, which the site answers.
package struct WebSession: ExportSession {
  /// A request's head, and where it comes from.
  package struct Request: Sendable {
    /// Nil if it is too long.
    var head: [UInt8]?
    var origin: FairPlaces.Origin
  }

  /// The time for a request, and for each piece of the reply.
  package static let patience = Duration.seconds(10)

  private let origin: FairPlaces.Origin
  private var reader = HTTPHeadReader()
  package private(set) var following: (@Sendable () async -> [UInt8]?)?

  /// A session with the client at this address.
  package init(_ peer: NetworkAddress?) { origin = FairPlaces.Origin(peer) }

  package var login: ExportLogin? { nil }
  package var timeout: [UInt8] { reader.isDone ? [] : WebReply.refusal(.requestTimeout).bytes }

  package mutating func take(_ bytes: [UInt8]) { reader.take(bytes) }
  package mutating func next() -> Request? { reader.next().map { Request(head: $0, origin: origin) } }
  package func needsReadings(_ request: Request) -> Bool { true }

  package mutating func answer(_ request: Request, from reply: WebReply, logins: [ExportLogin]) -> ExportAnswer {
    following = reply.following
    return ExportAnswer(reply.bytes, isLast: following == nil)
  }
}
