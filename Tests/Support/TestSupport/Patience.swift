// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

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

  /// Milliseconds for poll(2), of which `milliseconds` are enough on a quiet machine.
  static func milliseconds(_ milliseconds: CInt) -> CInt { milliseconds * CInt(factor) }

  /// Makes calls of a blocking socket fail with `EAGAIN` when nothing comes, or is taken, for `seconds` on a quiet machine.
  public static func limit(_ descriptor: FileDescriptor, seconds: Int) {
    var limit = timeval(tv_sec: seconds * factor, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor.rawValue, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
  }
}

extension Duration {
  /// This limit on a machine as slow as this one.
  public var patient: Duration { self * Patience.factor }
}
