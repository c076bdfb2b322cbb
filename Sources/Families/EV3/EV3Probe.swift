// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension Driver {
  /// How `identify` finds bricks.
  static let ev3Probe: Probe = { form, isNetwork, timeout in
    guard form == nil else { return nil }
    return isNetwork ? .ev3OnNetwork(timeout ?? .seconds(2)) : .ev3(timeout ?? .seconds(1))
  }
}

extension NativeProbe {
  /// EV3: asks which handles are open, as the driver does when it makes contact.
  fileprivate static func ev3(_ timeout: Duration) -> NativeProbe {
    let number: UInt16 = 0x4944
    let code = EV3SystemCommand.listOpenHandles.code
    let request = try? EV3Message(number: number, type: .systemCommand, body: [code]).encoded()
    let probe = TextProbe(timeout: timeout) { bytes in
      for start in bytes.indices where bytes.count - start >= 7 {
        // The reply has no checksum, so everything known about it is compared.
        let length = Int(bytes[start]) | Int(bytes[start + 1]) << 8
        guard length >= 5, length <= bytes.count - start - 2,
          let message = try? EV3Message(decoding: Array(bytes[(start + 2)...].prefix(length))),
          message.number == number, message.type == .systemReply || message.type == .systemError,
          message.body.first == code
        else { continue }
        return []
      }
      return nil
    }
    return NativeProbe(
      kind: EV3Brick.driverName, probe: probe, sends: [request ?? []], times: 1, timeout: timeout)
  }

  fileprivate static func ev3OnNetwork(_ timeout: Duration) -> NativeProbe {
    let probe = TextProbe(timeout: timeout) { $0.starts(with: "Accept:EV3".utf8) ? [] : nil }
    return NativeProbe(
      kind: EV3Brick.driverName, probe: probe, sends: [Array(EV3Greeting.request.utf8)], times: 1,
      timeout: timeout)
  }
}
