// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import DequeModule

/// A client of a hub. Used only in the hub's isolation.
final class HubClient {
  /// A number, unique in its hub.
  typealias ID = Int

  let id: ID
  /// The client's name for people: "tcp:127.0.0.1:40312".
  let name: String
  let transport: any Transport
  /// The client's TCP connection; nil for another one.
  let connection: DescriptorTransport?
  /// Whether the client may send frames that may change something in the accessory, if the hub's routing allows them.
  let allowsWrites: Bool
  /// The `id` of the limit of the client's endpoint; nil if it has none.
  let endpoint: Int?
  /// Called when the client is removed.
  let onLeave: (@Sendable () -> Void)?
  /// The bytes from the client.
  var intake = ClientIntake()
  /// Bytes that wait for the client.
  var backlog = Backlog()
  /// Whether the device's bytes are sent to the client. False for a terminal that no program has open.
  var isListening: Bool
  /// Whether the client's connection was reported by `joined`, so that its end is reported by `left`.
  var isReported: Bool
  /// Whether the client is being disconnected; it is removed when its backlog is sent.
  var isLeaving = false
  /// Whether the client's bytes were refused, and that was reported.
  var isRefusalReported = false
  /// Why the client's last frame was refused.
  var refusal: String?
  /// The telnet state of an RFC 2217 client.
  var telnet: TelnetClient?
  var terminal: TerminalClient?

  init(
    _ id: ID, name: String, _ transport: any Transport, _ connection: DescriptorTransport?, kind: HubClientKind,
    isListening: Bool, allowsWrites: Bool, endpoint: Int?, onLeave: (@Sendable () -> Void)?
  ) {
    (self.id, self.name, self.transport, self.allowsWrites) = (id, name, transport, allowsWrites)
    (self.isListening, isReported, self.endpoint, self.onLeave) = (isListening, isListening, endpoint, onLeave)
    self.connection = connection
    switch kind {
    case .network: intake.guardian = RequestLineGuard()
    case .rfc2217:
      intake.guardian = RequestLineGuard()
      telnet = TelnetClient()
    case .terminal(let pseudo): terminal = TerminalClient(pseudo: pseudo)
    case .local: break
    }
  }

  /// Whether this is another terminal of the endpoint that has the terminal `other`.
  func isTerminal(besides other: HubClient) -> Bool {
    terminal != nil && other.terminal != nil && id != other.id && endpoint != nil && endpoint == other.endpoint
  }
}

/// The bytes from a client, and how many of them were handled.
struct ClientIntake {
  /// The buffer for received bytes, which is reused.
  var buffer: [UInt8] = []
  /// Checks the first bytes for a web browser's request; nil after that.
  var guardian: RequestLineGuard?
  /// The client's requests that weren't carried out yet, in order.
  var actions: Deque<ClientAction> = []
  /// Whether a request is being carried out; the next ones wait.
  var isBusy = false
  /// Whether the device's queue had no room for the client's bytes.
  var isWaitingForDevice = false
  /// Counts the client's requests to the line, so that a timeout applies to its own request only.
  var ticket = 0
  /// Whether the client sends no more.
  var hasInputEnded = false
}

/// A pseudo-terminal that is a client.
struct TerminalClient {
  let pseudo: PseudoTerminal
  /// The terminal's settings when they were last read.
  var settings: LineStatus?
  /// Whether a timer is set to read the terminal's settings.
  var isWatched = false
}

/// The kind of a client's connection.
enum HubClientKind {
  /// A network connection that carries the device's bytes.
  case network
  /// A network connection that carries telnet with the settings of the line.
  case rfc2217
  /// A connection from this machine that carries the device's bytes.
  case local
  /// A pseudo-terminal. Its settings are passed on to the line.
  case terminal(PseudoTerminal)
}

/// A request of a client.
enum ClientAction {
  /// Send these bytes to the device.
  case send([UInt8])
  /// Do this on the line.
  case line(LineRequest)
  /// Carry out an RFC 2217 message, and reply to it.
  case port(COMPortMessage)
}
