// SPDX-License-Identifier: Apache-2.0

/// A level as a bar: "███████████░░░░░░░░░".
package enum LevelBar {
  private static let width = 20

  /// The bar of a percentage; it is full at 100 and above, and empty at 0 and below.
  package static func text(_ percent: Int) -> String {
    let filled = (max(0, min(percent, 100)) * width + 50) / 100
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }
}
