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
    guard let taken else { return }
    for (resource, option, used) in [(RLIMIT_AS, "-v", taken.addresses), (RLIMIT_DATA, "-d", taken.data)] {
      var limit = rlimit()
      guard getrlimit(CInt(resource.rawValue), &limit) == 0, let limit = Int(exactly: limit.rlim_cur) else { continue }
      guard limit - used < needed else { continue }
      throw AccessoryError(
        .misconfigured,
        "the limit of memory (ulimit \(option)) is \(limit >> 10) KiB, of which \(used >> 10) KiB are used already: \(user) needs "
          + "\(needed >> 20) MiB more. Raise the limit, or remove it")
    }
  }

  /// The bytes of this process's addresses, and of those that are writable and private, which the two limits count. Nil without /proc.
  static var taken: (addresses: Int, data: Int)? {
    // In pages, which have 4 or 16 KiB: proc(5).
    let counts = ((try? SmallFile.read("/proc/self/statm", limit: 256)) ?? []).split(separator: UInt8(ascii: " ")).map {
      Int(String(decoding: $0, as: UTF8.self)) ?? 0
    }
    let page = Int(sysconf(CInt(_SC_PAGESIZE)))
    return counts.count > 5 ? (counts[0] * page, counts[5] * page) : nil
  }
}
