// SPDX-License-Identifier: Apache-2.0

/// Writes numbers in error messages and profiles.
package enum NumberText {
  /// The number without needless decimals: 21, 2.05.
  package static func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
}
