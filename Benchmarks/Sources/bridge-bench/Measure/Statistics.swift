// SPDX-License-Identifier: Apache-2.0

extension Collection<Double> {
  /// The value below which the share `rank` of all lies, 0…1; the middle of the two nearest for the median of an even
  /// count. Zero when there is none.
  func quantile(_ rank: Double) -> Double {
    let sorted = self.sorted()
    guard let last = sorted.last else { return 0 }
    if rank == 0.5, sorted.count % 2 == 0 {
      return (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
    }
    let index = Int(Double(sorted.count) * rank)
    return index < sorted.count ? sorted[index] : last
  }

  /// The middle value.
  var median: Double { quantile(0.5) }
}
