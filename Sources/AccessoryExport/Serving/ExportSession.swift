// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A client's conversation with a server, as a value: it takes bytes, finds requests in them, and answers each from what the
/// server has prepared for it. It has no clock and does no I/O.
package protocol ExportSession: Sendable {
  /// A request found in the client's bytes.
  associatedtype Request: Sendable
  /// What a request is answered from: the readings of all accessories, or an answer that needed more than those.
  associatedtype Readings: Sendable = ReadingsSnapshot

  /// The longest time to the first request for readings, and between two of them. Other requests don't count.
  static var patience: Duration { get }

  /// Takes bytes from the client. All requests in earlier bytes must have been taken with `next`.
  mutating func take(_ bytes: [UInt8])
  /// The next complete request; nil if more bytes are needed.
  mutating func next() -> Request?
  /// Whether the reply needs readings that are at most a few seconds old.
  func needsReadings(_ request: Request) -> Bool
  /// Answers a request. `logins` are the logins of all clients.
  mutating func answer(
    _ request: Request, from readings: Readings, logins: [ExportLogin]
  ) -> ExportAnswer
  /// The accessory that the client has logged in to; nil for none.
  var login: ExportLogin? { get }
  /// The pieces that follow after an answer, one after another; nil if none follow. It returns nil after the last piece, and
  /// soon after its task was cancelled.
  var following: (@Sendable () async -> [UInt8]?)? { get }
  /// The last message to a client whose time is up; empty for none.
  var timeout: [UInt8] { get }
}

extension ExportSession {
  package var following: (@Sendable () async -> [UInt8]?)? { nil }
}

/// A reply to a client.
package struct ExportAnswer: Sendable, Hashable {
  package var bytes: [UInt8]
  /// Whether the server closes the connection after this reply.
  package var isLast = false

  package init(_ bytes: [UInt8], isLast: Bool = false) { (self.bytes, self.isLast) = (bytes, isLast) }
  package init(_ text: String, isLast: Bool = false) { self.init(Array(text.utf8), isLast: isLast) }
}

/// A client that has logged in to an accessory.
package struct ExportLogin: Sendable, Hashable {
  /// The accessory's name.
  package var name: String
  /// The client's address.
  package var address: String

  package init(name: String, address: String) { (self.name, self.address) = (name, address) }
}
