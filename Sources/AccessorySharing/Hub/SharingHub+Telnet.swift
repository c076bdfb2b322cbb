// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// What clients of RFC 2217 say, and what is answered.
extension SharingHub {
  private static let signature = Array("Accessory Bridge".utf8)
  private static let presence = Array("\r\n[Accessory Bridge is here]\r\n".utf8)

  /// A client of RFC 2217 has come.
  func greet(_ sharer: Sharer) {
    guard let greeting = sharer.telnet?.greeting() else { return }
    pass(greeting, to: sharer, isData: false)
  }

  /// Takes telnet's commands out of what a client sends.
  func takeTelnet(_ bytes: [UInt8], of sharer: Sharer) {
    var events: [TelnetDecoder.Event] = []
    sharer.telnet?.decoder.decode(bytes, into: &events)
    for event in events {
      switch event {
      case .data(let data): sharer.deeds.append(.send(data))
      case .option(let verb, let option): negotiate(verb, option, sharer)
      case .command(.lineBreak): sharer.deeds.append(.line(.pulse))
      case .command(.areYouThere): pass(Self.presence, to: sharer, isData: false)
      // Without an urgent notice a data mark says nothing.
      case .command(.dataMark), .command(.noOperation): break
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

  /// The client knows of the port's lines: it is told how they are.
  private func agree(_ sharer: Sharer) {
    guard sharer.telnet?.isAgreed == false else { return }
    sharer.telnet?.isAgreed = true
    lineUsers.insert(sharer.id)
    // The first notice says how the lines are; nothing has changed yet.
    sharer.telnet?.modemState = memory.modemState
    notify(sharer, isAsked: true)
    watchLines()
  }

  /// Answers a client; false when that has to wait for the line.
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
    case .lineState: reply(.lineState(lineState.rawValue), to: sharer)
    case .modemState: notify(sharer, isAsked: true)
    default:
      if case .purge(let value) = message, value & 1 != 0 { sharer.backlog.removeData() }
      guard let request = memory.request(message), mayChange(sharer) else {
        reply(memory.answer(to: message), to: sharer)
        return true
      }
      begin(request, of: sharer, answering: message)
      return false
    }
    return true
  }

  /// How the line is for who asks: whether all was sent.
  private var lineState: COMPortLineState {
    device.map { $0.output.queuedCount == 0 } ?? true ? [.holdingRegisterEmpty, .shiftRegisterEmpty] : []
  }

  func reply(_ message: COMPortMessage, to sharer: Sharer) {
    pass(message.bytes(fromServer: true), to: sharer, isData: false)
  }

  private func notify(_ sharer: Sharer, isAsked: Bool = false) {
    guard let notice = sharer.telnet?.notice(memory.modemState, isAsked: isAsked), !notice.isEmpty else { return }
    pass(notice, to: sharer, isData: false)
  }

  /// Tells everybody who wants to know what has changed.
  func notifyAll() { for sharer in sharers.values where sharer.telnet != nil { notify(sharer) } }
}
