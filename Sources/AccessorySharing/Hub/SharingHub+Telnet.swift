// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The messages of RFC 2217 clients, and the replies.
extension SharingHub {
  private static let signature = Array("Accessory Bridge".utf8)
  private static let presence = Array("\r\n[Accessory Bridge is here]\r\n".utf8)

  /// Sends the first telnet options to a new RFC 2217 client.
  func greet(_ client: HubClient) {
    guard let greeting = client.telnet?.greeting() else { return }
    pass(greeting, to: client, isData: false)
  }

  /// Decodes telnet commands in a client's bytes.
  func takeTelnet(_ bytes: [UInt8], of client: HubClient) {
    var events: [TelnetDecoder.Event] = []
    client.telnet?.decoder.decode(bytes, into: &events)
    for event in events {
      switch event {
      case .data(let data): if client.telnet?.isDiscarding != true { client.actions.append(.send(data)) }
      case .option(let verb, let option): negotiate(verb, option, client)
      case .command(.lineBreak): client.actions.append(.line(.pulse))
      case .command(.areYouThere): pass(Self.presence, to: client, isData: false)
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
          hasSpace(client.id)
        default: client.actions.append(.port(message))
        }
      }
    }
  }

  private func negotiate(_ verb: Telnet.Verb, _ option: UInt8, _ client: HubClient) {
    guard let answer = client.telnet?.options.receive(verb, option) else { return }
    pass(answer, to: client, isData: false)
    if verb == .will, option == Telnet.Option.comPort.rawValue { agree(client) }
  }

  /// The client supports COM-PORT-OPTION: sends it the state of the modem lines.
  private func agree(_ client: HubClient) {
    guard client.telnet?.isAgreed == false else { return }
    client.telnet?.isAgreed = true
    lineUsers.insert(client.id)
    // The first notice contains the state without change bits.
    client.telnet?.modemState = memory.modemState
    notify(client, isAsked: true)
    watchLines()
  }

  /// Replies to a client; false when the reply has to wait for the line.
  func answer(_ message: COMPortMessage, of client: HubClient) -> Bool {
    switch message {
    case .signature(let text):
      if text.isEmpty { reply(.signature(Self.signature), to: client) }
    case .lineStateMask(let mask):
      client.telnet?.lineStateMask = mask
      reply(message, to: client)
      watchLines()
    case .modemStateMask(let mask):
      client.telnet?.modemStateMask = mask
      reply(message, to: client)
      watchLines()
    case .lineState:
      guard device?.line != nil, lineState.isPossible else {
        reply(answer(to: message, of: client), to: client)
        return true
      }
      begin(.look, of: client, answering: message)
      return false
    case .modemState: notify(client, isAsked: true)
    default:
      if case .purge(let value) = message, value & 1 != 0 { client.backlog.removeData() }
      guard let request = memory.request(message), mayChange(client), !takeReset(request, of: client) else {
        reply(memory.answer(to: message), to: client)
        return true
      }
      begin(request, of: client, answering: message)
      return false
    }
    return true
  }

  /// The reply to a client's message. For NOTIFY-LINESTATE it contains the errors and breaks since the last notice; otherwise the
  /// values in force.
  func answer(to message: COMPortMessage, of client: HubClient) -> COMPortMessage {
    guard case .lineState = message else { return memory.answer(to: message) }
    return .lineState(registers.union(client.telnet?.takeLineEvents() ?? []).rawValue)
  }

  /// Urgent data has arrived from a client (telnet's Synch, RFC 854): drops the client's unsent bytes, and discards further bytes until
  /// its data mark. Its requests to the line are kept.
  func urgent(_ id: HubClient.ID) {
    guard let client = clients[id], client.telnet != nil, client.telnet?.isDiscarding == false else { return }
    client.telnet?.isDiscarding = true
    client.actions.removeAll { if case .send = $0 { true } else { false } }
  }

  func reply(_ message: COMPortMessage, to client: HubClient) {
    pass(message.bytes(fromServer: true), to: client, isData: false)
  }

  private func notify(_ client: HubClient, isAsked: Bool = false) {
    guard let notice = client.telnet?.notice(memory.modemState, isAsked: isAsked), !notice.isEmpty else { return }
    pass(notice, to: client, isData: false)
  }

  /// Notifies the clients that ask for changes of the modem lines.
  func notifyAll() { for client in clients.values where client.telnet != nil { notify(client) } }
}
