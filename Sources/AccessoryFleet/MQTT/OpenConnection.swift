// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A connection on the I/O thread.
final class OpenConnection {
  let connection: MosquittoConnection
  /// A duplicate of the library's descriptor. The library may close its own at any time, and its number may belong to another file a
  /// moment later.
  let descriptor: FileDescriptor
  var token: EventToken?
  var interest: Interest = []
  let start: MonotonicTime
  var isAccepted = false
  /// The number of packets since the last one that had an effect.
  var useless = 0
  /// Whether DISCONNECT was sent.
  var isLeaving = false
  var sent: [CInt: MQTTMessage] = [:]
  var subscriptions: [CInt: String] = [:]
  let keepalive: Duration
  var lastInput: MonotonicTime
  var lastOutput: MonotonicTime
  /// Bytes received so far; at the library's last event; and when the library last had nothing to send.
  var received, receivedAtEvent, receivedAtSent: UInt64

  init(_ connection: MosquittoConnection, _ descriptor: FileDescriptor, keepalive: Duration, now: MonotonicTime) {
    (self.connection, self.descriptor, self.keepalive) = (connection, descriptor, keepalive)
    (start, lastInput, lastOutput) = (now, now, now)
    (received, receivedAtEvent, receivedAtSent) = (0, 0, 0)
  }

  /// Reading pauses after this many bytes while the broker doesn't accept ours.
  private static let cloggedAfter: UInt64 = 256 << 10

  /// Whether reading must wait until the broker reads our replies. Otherwise the library would queue replies without a limit.
  var isClogged: Bool {
    connection.wantsToWrite && received > receivedAtSent && received - receivedAtSent > Self.cloggedAfter
  }
}
