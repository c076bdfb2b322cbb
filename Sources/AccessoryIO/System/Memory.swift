// SPDX-License-Identifier: Apache-2.0

import CLinuxShims

/// Settings of the C library's memory allocator.
package enum Memory {
  /// Makes all threads share one arena. By default, glibc creates up to eight arenas per processor, and each keeps
  /// memory that it once needed, so a service that was busy for a moment stays large. Call it once, before other
  /// threads start.
  package static func shareOneArena() { shim_limit_arenas(1) }

  private static let setup = SetupQueue(label: "memory")

  /// Gives memory that isn't used any more back to the system. By itself glibc gives back only what is free at the end of the heap. Returns
  /// at once: the work is done on another thread, since it looks at all free pieces.
  package static func giveBack() { setup.post { shim_trim_memory() } }
}
