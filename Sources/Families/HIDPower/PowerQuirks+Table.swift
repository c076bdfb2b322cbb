// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

extension PowerQuirks {
  /// The table that comes with the package. Its tests read the same file.
  private static let known: [UInt32: PowerQuirks] = {
    guard let table = try? read(PackageResources.power_quirks_yaml) else {
      preconditionFailure("power-quirks.yaml can't be read")
    }
    return table
  }()

  /// A mistake in a table.
  struct TableProblem: Error {
    let text: String
  }

  /// Reads a table in YAML: a list of `usb` (vendor and product in hexadecimal, or `*` for all products) with its faults. The key has the
  /// vendor in its upper half; that of all its products is the vendor alone.
  static func read(_ bytes: [UInt8]) throws -> [UInt32: PowerQuirks] {
    guard case .sequence(let rows) = try YAMLReader.read(bytes).content else {
      throw TableProblem(text: "it is no list")
    }
    var table: [UInt32: PowerQuirks] = [:]
    for row in rows {
      guard case .mapping(let entries) = row.content else { throw TableProblem(text: "line \(row.mark.line)") }
      var (quirks, product) = (PowerQuirks(), UInt32?.none)
      for entry in entries {
        switch (entry.key, entry.value.content) {
        case ("usb", .scalar(let text)):
          let ids = text.split(separator: ":").compactMap { $0.utf8.count == 4 ? UInt16($0, radix: 16) : nil }
          if ids.count == 2 { product = UInt32(ids[0]) << 16 | UInt32(ids[1]) }
          if ids.count == 1, text.hasSuffix(":*") { product = UInt32(ids[0]) }
        case ("battery_voltage", .scalar("three_halves")): quirks.scalesBatteryVoltage = true
        case ("frequency", .scalar("tenths")): quirks.scalesFrequency = true
        case ("outlet", .scalar("output")): quirks.outletIsOutput = true
        case ("good", .scalar("output")): quirks.goodIsOutput = true
        default: throw TableProblem(text: "line \(entry.mark.line): \(entry.key)")
        }
      }
      guard let product, table.updateValue(quirks, forKey: product) == nil else {
        throw TableProblem(text: "line \(row.mark.line): its usb is missing, wrong, or there already")
      }
    }
    return table
  }

  /// The faults of this maker's product.
  static func of(vendor: UInt16?, product: UInt16?) -> PowerQuirks {
    guard let vendor, let product else { return .none }
    return known[UInt32(vendor) << 16 | UInt32(product)] ?? known[UInt32(vendor)] ?? .none
  }
}
