// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The progress of a transfer; printed once for each whole percent.
package struct ProgressDocument: Encodable {
  struct Progress: Encodable {
    let done_bytes, size_bytes, percent: Int
    let bytes_per_second, seconds_left: Double?
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.progress
  let event = "progress"
  let time: Double
  let progress: Progress

  /// The progress: bytes done and in total, the percentage, bytes per second, and the remaining time. The last two are
  /// nil while the rate isn't known. `time` is in seconds since 1970, UTC.
  package init(
    done: Int, total: Int, percent: Int, rate: Double?, left: Duration?, at time: Double = WallClock.seconds
  ) {
    self.time = time
    progress = Progress(
      done_bytes: done, size_bytes: total, percent: percent, bytes_per_second: rate?.rounded(),
      seconds_left: left.map { Double($0.inNanoseconds / 1_000_000) / 1_000 })
  }
}
