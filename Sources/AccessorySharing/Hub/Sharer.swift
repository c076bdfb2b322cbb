// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import DequeModule

/// One client of a hub. Belongs to the hub, and is used in its isolation alone.
final class Sharer {
  /// Numbers are given once.
  typealias ID = Int

  let id: ID
  /// What it is called: "tcp:127.0.0.1:40312".
  let name: String
  let transport: any Transport
  /// What its bytes are.
  let kind: SharerKind

  /// What the device sent and the client has not taken.
  var backlog = Backlog()
  /// What the client asked for and was not done yet, in order.
  var deeds: Deque<SharerDeed> = []
  /// A deed is being done; what follows waits.
  var isBusy = false
  /// What it sent was offered to the device and refused for now.
  var isWaitingForDevice = false
  /// Whether it takes what the device sends; a terminal that nobody has open doesn't.
  var isListening = true
  /// It was told that it is there.
  var isTold = false
  /// It sends no more.
  var hasInputEnded = false
  /// It is to go when it has taken what waits for it.
  var isLeaving = false
  /// What it sends was not for the device, and that was told.
  var isUnheard = false
  /// It misses bytes, and that was told.
  var isSkipping = false
  /// Storage for what it sends, used again.
  var buffer: [UInt8] = []
  /// What it has said by RFC 2217.
  var telnet: TelnetClient?
  /// The settings of its terminal, as they were seen last.
  var settings: LineStatus?
  /// Counts what it asked of the line.
  var ticket = 0
  /// The endpoint it came by, where that has a limit.
  var endpoint: Int?
  /// Called when it is gone.
  var onLeave: (@Sendable () -> Void)?
  /// Looks whether it begins as a web page's request would.
  var guardian: RequestLineGuard?

  init(_ id: ID, name: String, _ transport: any Transport, kind: SharerKind) {
    (self.id, self.name, self.transport, self.kind) = (id, name, transport, kind)
    switch kind {
    case .network: guardian = RequestLineGuard()
    case .rfc2217:
      guardian = RequestLineGuard()
      telnet = TelnetClient()
    case .local, .terminal: break
    }
  }
}

/// What a client's bytes are.
enum SharerKind {
  /// The device's bytes, from the network.
  case network
  /// Telnet with the line's settings, from the network.
  case rfc2217
  /// The device's bytes, from this machine.
  case local
  /// Those of a pseudo-terminal, whose settings are the line's.
  case terminal(PseudoTerminal)
}

/// What a client asks for.
enum SharerDeed {
  /// To send these bytes to the device.
  case send([UInt8])
  /// To do something on the line.
  case line(LineRequest)
  /// To do what a message of RFC 2217 says, and answer it.
  case port(COMPortMessage)
}
