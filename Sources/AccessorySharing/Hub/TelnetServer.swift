// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// The messages of RFC 2217 clients, and the replies. The state of each is in its `TelnetClient`.
final class TelnetServer: HubPart {
  private static let signature = Array("Accessory Bridge".utf8)
  private static let presence = Array("\r\n[Accessory Bridge is here]\r\n".utf8)

  /// Sends the first telnet options to a new RFC 2217 client.
  func greet(_ client: HubClient) { if let greeting = client.telnet?.greeting() { send(greeting, to: client) } }

  /// Decodes telnet commands in a client's bytes.
  func take(_ bytes: [UInt8], of client: HubClient) {
    var events: [TelnetDecoder.Event] = []
    client.telnet?.decoder.decode(bytes, into: &events)
    for event in events {
      switch event {
      case .data(let data): if client.telnet?.isDiscarding != true { client.intake.actions.append(.send(data)) }
      case .option(let verb, let option): negotiate(verb, option, client)
      case .command(.lineBreak): client.intake.actions.append(.line(.pulse))
      case .command(.areYouThere): send(Self.presence, to: client)
      // Ends the discarding that urgent data has started. Without urgent data a data mark has no effect.
      case .command(.dataMark): client.telnet?.isDiscarding = false
      case .command(.noOperation): break
      case .subnegotiation(let option, let payload):
        guard option == Telnet.Option.comPort.rawValue, let message = COMPortMessage(payload, fromServer: false) else {
          continue
        }
        agree(client)
        switch message {
        case .suspend: client.telnet?.isSuspended = true
        case .resume:
          client.telnet?.isSuspended = false
          if clients[client.id] != nil { delivery.hasSpace(client) }
        default: client.intake.actions.append(.port(message))
        }
      }
    }
  }

  private func negotiate(_ verb: Telnet.Verb, _ option: UInt8, _ client: HubClient) {
    guard let answer = client.telnet?.options.receive(verb, option) else { return }
    send(answer, to: client)
    if verb == .will, option == Telnet.Option.comPort.rawValue { agree(client) }
  }

  /// The client supports COM-PORT-OPTION: sends it the state of the modem lines.
  private func agree(_ client: HubClient) {
    guard client.telnet?.isAgreed == false else { return }
    client.telnet?.isAgreed = true
    line.isUsed(by: client.id)
    // The first notice contains the state without change bits.
    client.telnet?.modemState = line.memory.modemState
    notify(client, isAsked: true)
    line.watch()
  }

  // MARK: - Replies

  /// Replies to a client, at once or when the line has carried out the message.
  func answer(_ message: COMPortMessage, of client: HubClient) {
    switch message {
    case .signature(let text):
      if text.isEmpty { reply(.signature(Self.signature), to: client) }
    case .lineStateMask(let mask):
      client.telnet?.lineStateMask = mask
      reply(message, to: client)
      line.watch()
    case .modemStateMask(let mask):
      client.telnet?.modemStateMask = mask
      reply(message, to: client)
      line.watch()
    case .lineState:
      if line.countsErrors { return line.begin(.look, of: client, answering: message) }
      reply(answer(to: message, of: client), to: client)
    case .modemState: notify(client, isAsked: true)
    default:
      if case .purge(let value) = message, value & 1 != 0 { client.backlog.removeData() }
      guard let request = line.memory.request(message), requests.mayChange(client), !resets.take(request, of: client)
      else {
        return reply(line.memory.answer(to: message), to: client)
      }
      line.begin(request, of: client, answering: message)
    }
  }

  /// The reply to a client's message. For NOTIFY-LINESTATE it contains the errors and breaks since the last notice; otherwise the
  /// values in force.
  func answer(to message: COMPortMessage, of client: HubClient) -> COMPortMessage {
    guard case .lineState = message else { return line.memory.answer(to: message) }
    return .lineState(line.registers.union(client.telnet?.takeLineEvents() ?? []).rawValue)
  }

  /// Urgent data has arrived from a client (telnet's Synch, RFC 854): drops the client's unsent bytes, and discards further bytes until
  /// its data mark. Its requests to the line are kept.
  func urgent(_ id: HubClient.ID) {
    guard let client = clients[id], client.telnet != nil, client.telnet?.isDiscarding == false else { return }
    client.telnet?.isDiscarding = true
    client.intake.actions.removeAll { if case .send = $0 { true } else { false } }
  }

  func reply(_ message: COMPortMessage, to client: HubClient) { send(message.bytes(fromServer: true), to: client) }

  private func send(_ bytes: [UInt8], to client: HubClient) {
    if !bytes.isEmpty { delivery.pass(bytes, to: client, isData: false) }
  }

  // MARK: - Notices

  private func notify(_ client: HubClient, isAsked: Bool = false) {
    if let notice = client.telnet?.notice(line.memory.modemState, isAsked: isAsked) { send(notice, to: client) }
  }

  /// Notifies the clients that ask for changes of the modem lines.
  func notifyAll() { for client in clients.all.values where client.telnet != nil { notify(client) } }

  /// Notifies the clients that ask for errors, breaks, or empty transmit registers.
  func notifyAll(_ events: COMPortLineState) {
    for client in clients.all.values {
      if let notice = client.telnet?.lineNotice(line.registers, events: events) { send(notice, to: client) }
    }
  }
}
