// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

// A target for libFuzzer: what the reports of a power device say. The first byte says how long its descriptor is, in steps of four
// bytes; 255 is the descriptor that starts the corpus. Behind it are reports, each with its kind and its length in front.

/// A descriptor with the usages that are read, so that reports have something to say from the start.
private let known: [UInt8] = {
  var text: [UInt8] = [0x05, 0x84, 0x09, 0x04, 0xA1, 0x01, 0x09, 0x24, 0xA1, 0x00, 0x75, 0x20, 0x95, 0x01]
  text += [0x17, 0x00, 0x00, 0x00, 0x80, 0x27, 0xFF, 0xFF, 0xFF, 0x7F]
  for (number, usages) in [(0x84, 0x30...0x73), (0x85, 0x29...0xDB)].enumerated() {
    text += [0x05, UInt8(usages.0), 0x85, UInt8(number + 1)]
    for usage in usages.1 { text += [0x09, UInt8(usage), 0xB1, 0x82, 0x09, UInt8(usage), 0x81, 0x82] }
  }
  return text + [0xC0, 0xC0]
}()

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let text = choice == 255 ? known[...] : bytes.prefix(4 * choice)
  var rest = choice == 255 ? bytes[...] : bytes.dropFirst(4 * choice)
  var quirks = PowerQuirks()
  (quirks.scalesBatteryVoltage, quirks.scalesFrequency) = (choice % 2 == 0, choice % 3 == 0)
  var reports = PowerReports(HIDReportDescriptor(text), quirks)
  while let kind = rest.popFirst(), let length = rest.popFirst() {
    reports.take(kind % 2 == 0 ? .input : .feature, Array(rest.prefix(Int(length))))
    rest = rest.dropFirst(Int(length))
    let battery = reports.battery()
    precondition(battery.percent.map { (0...100).contains($0) } ?? true)
    for value in reports.values() {
      if case .number(let number)? = value.content { precondition(number.isFinite, "a number is one") }
    }
  }
  _ = reports.fields.features(with: PowerReports.batteryUsages.union(PowerReports.valueUsages))
  return 0
}
