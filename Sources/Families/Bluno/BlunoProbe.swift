// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

extension Driver {
  /// How `identify` finds boards, with newer and with older radios.
  static let blunoProbe: Probe = { form, _, timeout in
    switch form {
    case nil: .bluno(timeout ?? .seconds(1))
    case "old": .oldBluno(timeout ?? .seconds(1))
    default: nil
    }
  }
}

extension NativeProbe {
  fileprivate static func bluno(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { BlunoReply(decoding: $0) == .enteredATMode ? [] : nil }
    return NativeProbe(
      kind: BlunoRobot.driverName, probe: probe, sends: [bytes(.toggle)], times: 1, farewell: bytes(.exit),
      timeout: timeout)
  }

  /// Older Bluno radios: they don't answer `+++`, which an earlier step has sent, but are in AT mode afterwards.
  fileprivate static func oldBluno(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { $0 == BlunoReply.ok.encoded ? [.init("radio", "before 1.8")] : nil }
    return NativeProbe(
      kind: BlunoRobot.driverName, probe: probe, sends: [bytes(.attention)], times: 1,
      farewell: bytes(.toggle), timeout: timeout)
  }

  fileprivate static func bytes(_ command: BlunoCommand) -> [UInt8] { (try? command.encoded()) ?? [] }
}
