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
  /// Whether DISCONNECT was sent.
  var isLeaving = false
  var sent: [CInt: MQTTMessage] = [:]
  var subscriptions: [CInt: String] = [:]
  var keepalive: Duration
  var lastInput: MonotonicTime
  var lastOutput: MonotonicTime
  /// The bytes that had been received when the last packet was complete.
  var receivedAtEvent: UInt64 = 0

  init(_ connection: MosquittoConnection, _ descriptor: FileDescriptor, keepalive: Duration, now: MonotonicTime) {
    (self.connection, self.descriptor, self.keepalive) = (connection, descriptor, keepalive)
    (start, lastInput, lastOutput) = (now, now, now)
  }
}
