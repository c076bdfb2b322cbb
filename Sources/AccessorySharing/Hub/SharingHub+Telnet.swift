// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The messages of RFC 2217 clients, and the replies.
extension SharingHub {
  private static let signature = Array("Accessory Bridge".utf8)
  private static let presence = Array("\r\n[Accessory Bridge is here]\r\n".utf8)

  /// Sends the first telnet options to a new RFC 2217 client.
  func greet(_ sharer: Sharer) {
    guard let greeting = sharer.telnet?.greeting() else { return }
    pass(greeting, to: sharer, isData: false)
  }

  /// Decodes telnet commands in a client's bytes.
  func takeTelnet(_ bytes: [UInt8], of sharer: Sharer) {
    var events: [TelnetDecoder.Event] = []
    sharer.telnet?.decoder.decode(bytes, into: &events)
    for event in events {
      switch event {
      case .data(let data): if sharer.telnet?.isDiscarding != true { sharer.deeds.append(.send(data)) }
      case .option(let verb, let option): negotiate(verb, option, sharer)
      case .command(.lineBreak): sharer.deeds.append(.line(.pulse))
      case .command(.areYouThere): pass(Self.presence, to: sharer, isData: false)
      // Ends the discarding that urgent data has started. Without urgent data a data mark has no effect.
      case .command(.dataMark): sharer.telnet?.isDiscarding = false
      case .command(.noOperation): break
      case .subnegotiation(let option, let payload):
        guard option == Telnet.Option.comPort.rawValue, let message = COMPortMessage(payload, fromServer: false) else {
          continue
        }
        agree(sharer)
        switch message {
        case .suspend: sharer.telnet?.isSuspended = true
        case .resume:
          sharer.telnet?.isSuspended = false
          hasSpace(sharer.id)
        default: sharer.deeds.append(.port(message))
        }
      }
    }
  }

  private func negotiate(_ verb: Telnet.Verb, _ option: UInt8, _ sharer: Sharer) {
    guard let answer = sharer.telnet?.options.receive(verb, option) else { return }
    pass(answer, to: sharer, isData: false)
    if verb == .will, option == Telnet.Option.comPort.rawValue { agree(sharer) }
  }

  /// The client supports COM-PORT-OPTION: sends it the state of the modem lines.
  private func agree(_ sharer: Sharer) {
    guard sharer.telnet?.isAgreed == false else { return }
    sharer.telnet?.isAgreed = true
    lineUsers.insert(sharer.id)
    // The first notice contains the state without change bits.
    sharer.telnet?.modemState = memory.modemState
    notify(sharer, isAsked: true)
    watchLines()
  }

  /// Replies to a client; false when the reply has to wait for the line.
  func answer(_ message: COMPortMessage, of sharer: Sharer) -> Bool {
    switch message {
    case .signature(let text):
      if text.isEmpty { reply(.signature(Self.signature), to: sharer) }
    case .lineStateMask(let mask):
      sharer.telnet?.lineStateMask = mask
      reply(message, to: sharer)
      watchLines()
    case .modemStateMask(let mask):
      sharer.telnet?.modemStateMask = mask
      reply(message, to: sharer)
      watchLines()
    case .lineState:
      guard device?.line != nil, lineState.isPossible else {
        reply(answer(to: message, of: sharer), to: sharer)
        return true
      }
      begin(.look, of: sharer, answering: message)
      return false
    case .modemState: notify(sharer, isAsked: true)
    default:
      if case .purge(let value) = message, value & 1 != 0 { sharer.backlog.removeData() }
      guard let request = memory.request(message), mayChange(sharer), !takeReset(request, of: sharer) else {
        reply(memory.answer(to: message), to: sharer)
        return true
      }
      begin(request, of: sharer, answering: message)
      return false
    }
    return true
  }

  /// The reply to a client's message. For NOTIFY-LINESTATE it contains the errors and breaks since the last notice; otherwise the
  /// values in force.
  func answer(to message: COMPortMessage, of sharer: Sharer) -> COMPortMessage {
    guard case .lineState = message else { return memory.answer(to: message) }
    return .lineState(registers.union(sharer.telnet?.takeLineEvents() ?? []).rawValue)
  }

  /// Urgent data has arrived from a client (telnet's Synch, RFC 854): drops the client's unsent bytes, and discards further bytes until
  /// its data mark. Its requests to the line are kept.
  func urgent(_ id: Sharer.ID) {
    guard let sharer = sharers[id], sharer.telnet != nil, sharer.telnet?.isDiscarding == false else { return }
    sharer.telnet?.isDiscarding = true
    sharer.deeds.removeAll { if case .send = $0 { true } else { false } }
  }

  func reply(_ message: COMPortMessage, to sharer: Sharer) {
    pass(message.bytes(fromServer: true), to: sharer, isData: false)
  }

  private func notify(_ sharer: Sharer, isAsked: Bool = false) {
    guard let notice = sharer.telnet?.notice(memory.modemState, isAsked: isAsked), !notice.isEmpty else { return }
    pass(notice, to: sharer, isData: false)
  }

  /// Notifies the clients that ask for changes of the modem lines.
  func notifyAll() { for sharer in sharers.values where sharer.telnet != nil { notify(sharer) } }
}
