// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

extension Driver {
  /// How `identify` finds modules: genuine ones, and clones, whose requests end in another way.
  static let hm10Probe: Probe = { form, _, timeout in
    switch form {
    case nil: .hm10(.genuine, timeout ?? .seconds(1))
    case "clone": .hm10(.clone, timeout ?? .seconds(1))
    default: nil
    }
  }
}

extension NativeProbe {
  fileprivate static func hm10(_ dialect: HM10Dialect, _ timeout: Duration) -> NativeProbe {
    let isGenuine = dialect == .genuine
    let probe = TextProbe(timeout: timeout) { bytes in
      if isGenuine, bytes == Array("OK+LOST".utf8) { return [.init("connection", "was there, and was ended")] }
      return HM10Dialect(answer: bytes) == dialect ? [.init("dialect", isGenuine ? "genuine" : "clone")] : nil
    }
    return NativeProbe(
      kind: HM10Module.driverName, probe: probe,
      sends: [(try? HM10Command.attention.encoded(for: dialect)) ?? []], times: 1, timeout: timeout)
  }
}
