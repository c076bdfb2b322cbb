// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What Documentation/profiles.md shows can be used as it stands. `SchemaTests` compares its tables with those of the keys.
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
}
