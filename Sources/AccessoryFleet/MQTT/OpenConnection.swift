// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A connection on the I/O thread.
final class OpenConnection {
  let connection: MosquittoConnection
  let socket: BrokerSocket
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
  /// Whether the library may find more to read, which the broker's socket doesn't announce.
  var isUnread = false
  /// The bytes that the library had received at its last event, and when there was last nothing to send.
  var (receivedAtEvent, receivedAtSent): (UInt64, UInt64) = (0, 0)

  init(_ connection: MosquittoConnection, _ socket: BrokerSocket, keepalive: Duration, now: MonotonicTime) {
    (self.connection, self.socket, self.keepalive) = (connection, socket, keepalive)
    (start, lastInput, lastOutput) = (now, now, now)
  }

  /// Whether the library, or its socket, has data left to send because the broker doesn't read.
  var wantsToWrite: Bool { connection.wantsToWrite || socket.wantsToSend }

  /// Reading pauses after this many bytes while the broker doesn't accept ours.
  private static let cloggedAfter: UInt64 = 256 << 10

  /// Whether reading must wait until the broker reads our replies. Otherwise the library would queue replies without a limit.
  var isClogged: Bool {
    wantsToWrite && socket.received - receivedAtSent > Self.cloggedAfter
  }
}
