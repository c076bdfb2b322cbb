// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How patient the tests are. Their time limits find hangs and measure nothing, so they grow with the machine's slowness.
public enum Patience {
  /// How many times as long as on a quiet machine the tests wait before they call it a hang: `ACCESSORY_BRIDGE_PATIENCE`, which
  /// `Tests/Tools/run-all` and the lab's guest set to what they measure when they start; otherwise 1, and 20 at most.
  public static let factor: Int = {
    let text = getenv("ACCESSORY_BRIDGE_PATIENCE").map { String(cString: $0) } ?? ""
    return min(max(Int(text) ?? 1, 1), 20)
  }()

  /// Minutes for the time limit of a test or a suite, which needs `minutes` on a quiet machine at the very most.
  public static func minutes(_ minutes: Int) -> Int { minutes * factor }
}

extension Duration {
  /// This limit on a machine as slow as this one.
  public var patient: Duration { self * Patience.factor }
}
