// SPDX-License-Identifier: Apache-2.0

/// A level as a bar: "███████████░░░░░░░░░".
package enum LevelBar {
  private static let width = 20

  /// The bar of a percent; what is more than 100 is full.
  package static func text(_ percent: UInt8) -> String {
    let filled = (Int(min(percent, 100)) * width + 50) / 100
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }
}
