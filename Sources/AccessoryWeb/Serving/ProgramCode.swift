// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// The code of this program and of its libraries, as it is mapped into its memory.
enum ProgramCode {
  private static let setup = SetupQueue(label: "memory")

  /// Unmaps the code for a program that waits most of the time. Most of it is mapped because the start needed it, or what lies beside it.
  /// It stays in the kernel's cache, from where it is mapped again when it is run. Returns at once.
  static func giveBack() {
    setup.post {
      for range in ranges() {
        madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      }
    }
  }

  /// Where files are mapped to be run and not to be written. So nothing of them is in memory alone.
  private static func ranges() -> [Range<UInt>] {
    // "7f5b1c028000-7f5b1c17e000 r-xp 00028000 fe:00 1054  /usr/lib/x86_64-linux-gnu/libc.so.6": proc_pid_maps(5).
    let maps = (try? SmallFile.read("/proc/self/maps", limit: 1 << 20)) ?? []
    return maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
      let fields = line.split(separator: UInt8(ascii: " "))
      guard fields.count > 5, fields[1].elementsEqual("r-xp".utf8), fields[5].first == UInt8(ascii: "/")
      else { return nil }
      let ends = fields[0].split(separator: UInt8(ascii: "-")).compactMap {
        UInt(String(decoding: $0, as: UTF8.self), radix: 16)
      }
      return ends.count == 2 && ends[0] > 0 && ends[0] < ends[1] ? ends[0]..<ends[1] : nil
    }
  }
}
