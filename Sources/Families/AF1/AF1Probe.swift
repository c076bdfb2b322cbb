// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension Driver {
  /// How `identify` finds AF1 accessories.
  static let af1Probe: Probe = { form, _, timeout in form == nil ? .af1(timeout ?? .milliseconds(500)) : nil }
}

extension NativeProbe {
  /// AF1: sends IDENTIFY without HELLO, because HELLO would make the accessory forget the replies to another host.
  fileprivate static func af1(_ timeout: Duration) -> NativeProbe {
    let number: UInt16 = 0x4944
    var request: [UInt8] = []
    // A frame without a payload always fits.
    try? AF1Codec(maximumPayload: 1).encode(.request(.identify, number: number), payload: RawSpan(), into: &request)
    let probe = CodecProbe(AF1Codec(maximumPayload: 4_096), timeout: timeout) { header, payload in
      guard header.flags.contains(.reply), header.command == .identify, header.number == number else { return nil }
      guard let identity = try? AF1Identity(decoding: payload) else { return [] }
      return [
        ("identity.manufacturer", identity.manufacturer), ("identity.name", identity.name),
        ("identity.model", identity.model), ("identity.serial", identity.serialNumber),
        ("identity.firmware", identity.firmwareVersion),
      ].filter { !$0.1.isEmpty }.map { .init($0.0, $0.1) }
    }
    return NativeProbe(
      kind: AF1Accessory.driverName, probe: probe, sends: [request], timeout: timeout)
  }
}
