// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc

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

  /// Throws `misconfigured` when the limits of this process (`ulimit -v`, `ulimit -d`) leave fewer than `needed` bytes to `user`. Swift
  /// aborts the process when an allocation fails, so a service looks before it begins.
  package static func checkRoom(for user: String, needing needed: Int) throws(AccessoryError) {
    // In pages, from proc(5): the second limit counts what is writable and private.
    let counts = ((try? SmallFile.read("/proc/self/statm", limit: 256)) ?? []).split(separator: UInt8(ascii: " ")).map {
      Int(String(decoding: $0, as: UTF8.self)) ?? 0
    }
    guard counts.count > 5 else { return }
    for (resource, option, pages) in [(RLIMIT_AS, "-v", counts[0]), (RLIMIT_DATA, "-d", counts[5])] {
      var limit = rlimit()
      guard getrlimit(CInt(resource.rawValue), &limit) == 0, let limit = Int(exactly: limit.rlim_cur) else { continue }
      let used = pages * Int(sysconf(CInt(_SC_PAGESIZE)))
      guard limit - used < needed else { continue }
      throw AccessoryError(
        .misconfigured,
        "the limit of memory (ulimit \(option)) is \(limit >> 10) KiB, of which \(used >> 10) KiB are used already: \(user) needs "
          + "\(needed >> 20) MiB more. Raise the limit, or remove it")
    }
  }
}
