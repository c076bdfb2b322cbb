// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What Documentation/profiles.md shows can be used as it stands, and it names every key.
@Suite struct DocumentationTests {
  private let page: String

  init() throws {
    let root = ProjectFolder.path
    let bytes = try SmallFile.read("\(root)/Documentation/profiles.md", limit: 1 << 20)
    page = String(decoding: bytes, as: UTF8.self)
  }

  @Test func theExamplesAreProfiles() throws {
    var examples: [[Substring]] = []
    var example: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if let lines = example {
        example = text == "```" ? nil : lines + [line]
        if text == "```" { examples.append(lines) }
      } else if text == "```yaml" {
        example = []
      }
    }
    let profiles = try examples.map { lines in
      try ProfileReader.read(Array(lines.joined(separator: "\n").utf8), file: "profiles.md")
    }
    #expect(profiles.map(\.name) == ["my-gadget", "everything"])
    #expect(profiles.first?.rules == [DeviceRule(serialNumber: "A50285BI", usbVendor: 0x0403, usbProduct: 0x6001)])
  }

  @Test(
    arguments: [
      ("", KnownKeys.profile), ("", KnownKeys.rule.filter { !["usb", "bluetooth"].contains($0) }),
      ("usb: ", KnownKeys.ruleUSB), ("bluetooth: ", KnownKeys.ruleBluetooth),
      ("ble: ", KnownKeys.ble), ("rfcomm: ", KnownKeys.rfcomm),
      ("tty: ", KnownKeys.tty.filter { $0 != "rs485" }), ("tty: rs485: ", KnownKeys.rs485),
      ("usb: ", KnownKeys.usb.filter { $0 != "endpoints" }), ("", KnownKeys.attempts), ("", ["prefer"]),
      ("share: ", KnownKeys.share),
      ("", ["max_attached", "idle_close"]),
    ] as [(String, [String])])
  func everyKeyOfAProfileIsInThePage(place: String, keys: [String]) {
    for key in keys { #expect(page.contains("\n| `\(place)\(key)` |"), "\(place)\(key)") }
  }
}
