// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension Program {
  /// The path of `bridge-cli`, which lies beside the tests' program.
  static var bridgeCLI: String {
    let tests = linkTarget("/proc/self/exe") ?? ""
    return "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
  }
}
