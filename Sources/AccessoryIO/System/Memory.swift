// SPDX-License-Identifier: Apache-2.0

import CLinuxShims

/// How the C library keeps memory for this process.
package enum Memory {
  /// Lets all threads share one arena. Glibc otherwise makes up to eight a processor, and each keeps what was once needed
  /// in it: a service that was busy for a moment stays large. To be called once, before there are threads.
  package static func shareOneArena() { shim_limit_arenas(1) }
}
