// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Words beside the result, on standard error.
func note(_ text: String) {
  var line = text + "\n"
  line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
