// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc

/// The flock(2) locks that `/proc/locks` listed when it was read.
package struct FileLocks: Sendable {
  private struct File: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  private var pids: [File: CInt] = [:]

  /// Reads `/proc/locks`. Without that file there are no locks.
  package init() {
    // An example of a line: "1: FLOCK ADVISORY WRITE 4711 00:18:5 0 EOF". It has the pid, then device and inode of the
    // file; see proc_locks(5).
    for line in ProcessTable.lines(of: "/proc/locks") {
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count >= 6, fields[1] == "FLOCK", let pid = CInt(fields[4]), pid > 0 else { continue }
      let place = fields[5].split(separator: ":")
      guard place.count == 3, let inode = UInt64(place[2]),
        let major = UInt32(place[0], radix: 16), let minor = UInt32(place[1], radix: 16)
      else { continue }
      let file = File(device: shim_makedev(major, minor), inode: inode)
      if pids[file] == nil { pids[file] = pid }
    }
  }

  /// The process that held a lock on this file.
  func holder(of file: stat) -> ProcessTable.Entry? {
    pids[File(device: UInt64(file.st_dev), inode: UInt64(file.st_ino))].map(ProcessTable.entry)
  }
}
