// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// What a client of RFC 2217 has said so far.
struct TelnetClient {
  var decoder = TelnetDecoder()
  var options = TelnetOptions(
    ours: [.binary, .echo, .suppressGoAhead, .comPort], theirs: [.binary, .suppressGoAhead, .comPort])
  /// It knows of the port's settings and lines.
  var isAgreed = false
  /// Of which changes it wants to be told.
  var lineStateMask: UInt8 = 0
  var modemStateMask: UInt8 = 255
  /// What it was told last.
  var modemState: COMPortModemState = []
  /// It has asked that nothing is sent to it.
  var isSuspended = false

  /// What the server says first.
  mutating func greeting() -> [UInt8] {
    options.offer(.suppressGoAhead) + options.ask(.suppressGoAhead) + options.offer(.echo) + options.ask(.binary)
      + options.offer(.binary) + options.ask(.comPort)
  }

  /// Whether it wants to know how the modem lines are.
  var watchesModemLines: Bool { isAgreed && modemStateMask != 0 }

  /// What to tell it of the modem lines now: nothing when nothing has changed that it wants to know, unless it asks for it.
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
