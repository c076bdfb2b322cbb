// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// The telnet state of an RFC 2217 client.
struct TelnetClient {
  var decoder = TelnetDecoder()
  var options = TelnetOptions(
    ours: [.binary, .echo, .suppressGoAhead, .comPort], theirs: [.binary, .suppressGoAhead, .comPort])
  /// Whether the client supports COM-PORT-OPTION.
  var isAgreed = false
  /// The masks of the changes of line state and modem state that the client asks for.
  var lineStateMask: UInt8 = 0
  var modemStateMask: UInt8 = 255
  /// The modem state in the last notice.
  var modemState: COMPortModemState = []
  /// The transmit registers in the last notice.
  var registers: COMPortLineState = [.holdingRegisterEmpty, .shiftRegisterEmpty]
  /// Errors and breaks that no notice to the client contained yet.
  private var lineEvents: COMPortLineState = []
  /// Whether received bytes are discarded until the data mark, because urgent data has arrived.
  var isDiscarding = false
  /// Whether the client has suspended the flow of bytes to it. Bytes and replies are queued meanwhile.
  var isSuspended = false

  /// The telnet options that the server offers and requests first.
  mutating func greeting() -> [UInt8] {
    options.offer(.suppressGoAhead) + options.ask(.suppressGoAhead) + options.offer(.echo) + options.ask(.binary)
      + options.offer(.binary) + options.ask(.comPort)
  }

  /// Whether the client asks for changes of the modem lines.
  var watchesModemLines: Bool { isAgreed && modemStateMask != 0 }

  /// Whether the client asks for notices of errors, breaks, or empty transmit registers.
  var watchesLineState: Bool { isAgreed && lineStateMask != 0 }

  /// Returns the notice on the line state; empty when nothing has changed that the client asks for.
  mutating func lineNotice(_ now: COMPortLineState, events: COMPortLineState) -> [UInt8] {
    guard isAgreed else { return [] }
    lineEvents.formUnion(events)
    let mask = COMPortLineState(rawValue: lineStateMask)
    let changes = now.symmetricDifference(registers).union(lineEvents).intersection(mask)
    registers = now
    guard !changes.isEmpty else { return [] }
    let reported = now.union(lineEvents).intersection(mask)
    lineEvents.subtract(mask)
    return COMPortMessage.lineState(reported.rawValue).bytes(fromServer: true)
  }

  /// Returns the errors and breaks that no notice contained yet, and forgets them.
  mutating func takeLineEvents() -> COMPortLineState {
    defer { lineEvents = [] }
    return lineEvents
  }

  /// Returns the notice on the modem lines; empty when no line has changed that the client asks for, unless `isAsked`.
  mutating func notice(_ state: COMPortModemState, isAsked: Bool = false) -> [UInt8] {
    guard isAgreed else { return [] }
    let mask = COMPortModemState(rawValue: modemStateMask)
    let new = state.changed(since: modemState)
    let hasChanged = !new.symmetricDifference(modemState).intersection(.states).intersection(mask).isEmpty
    guard isAsked || hasChanged else { return [] }
    modemState = state
    return COMPortMessage.modemState(new.intersection(mask).rawValue).bytes(fromServer: true)
  }
}
