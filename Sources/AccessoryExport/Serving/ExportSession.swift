// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A client's conversation with a server of this room, as a value: bytes come in, requests are found in them, and each is
/// answered from a snapshot of the readings. It has no clock and does no I/O.
package protocol ExportSession: Sendable {
  /// A request that was found in the client's bytes.
  associatedtype Request: Sendable

  /// How long a client may let pass between two requests for readings, or may take for its first. Other requests don't count.
  static var patience: Duration { get }

  /// Takes bytes of the client. All requests in the bytes before must have been taken.
  mutating func take(_ bytes: [UInt8])
  /// The next whole request; nil when more bytes are needed for it.
  mutating func next() -> Request?
  /// Whether the answer needs readings that are not older than a few seconds.
  func needsReadings(_ request: Request) -> Bool
  /// Answers a request. `logins` are those of all clients.
  mutating func answer(
    _ request: Request, from readings: ReadingsSnapshot, logins: [ExportLogin]
  ) -> ExportAnswer
  /// The accessory that the client has logged in to; nil for none.
  var login: ExportLogin? { get }
  /// What a client is told whose time is up; empty for nothing.
  var timeout: [UInt8] { get }
}

/// An answer to a client.
package struct ExportAnswer: Sendable, Hashable {
  package var bytes: [UInt8]
  /// Whether the server closes the connection after this answer.
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
