// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A connection that is on the I/O thread.
final class OpenConnection {
  let connection: MosquittoConnection
  /// A duplicate of the library's descriptor: the library closes its own whenever it likes, and a number that was closed may
  /// belong to another file a moment later.
  let descriptor: FileDescriptor
  var token: EventToken?
  var interest: Interest = []
  let start: MonotonicTime
  var isAccepted = false
  /// How many packets have come since the last one that was of use.
  var useless = 0
  /// Whether DISCONNECT was sent.
  var isLeaving = false
  var sent: [CInt: MQTTMessage] = [:]
  var subscriptions: [CInt: String] = [:]
  let keepalive: Duration
  var lastInput: MonotonicTime
  var lastOutput: MonotonicTime
  /// The bytes that have been received; and those that had been when the library last reported something, and when it had nothing left to
  /// send.
  var received, receivedAtEvent, receivedAtSent: UInt64

  init(_ connection: MosquittoConnection, _ descriptor: FileDescriptor, keepalive: Duration, now: MonotonicTime) {
    (self.connection, self.descriptor, self.keepalive) = (connection, descriptor, keepalive)
    (start, lastInput, lastOutput) = (now, now, now)
    (received, receivedAtEvent, receivedAtSent) = (0, 0, 0)
  }

  /// The bytes that are read while the broker doesn't take what it is sent.
  private static let cloggedAfter: UInt64 = 256 << 10

  /// Whether reading has to wait until the broker takes the answers to what it has sent: the library would keep them without a limit.
  var isClogged: Bool {
    connection.wantsToWrite && received > receivedAtSent && received - receivedAtSent > Self.cloggedAfter
  }
}
