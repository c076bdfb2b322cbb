// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// Information about other processes from `/proc`. Used only to explain a failure, so it may be slow.
enum ProcessTable {
  /// A process: its id and its name.
  struct Entry: Sendable, Hashable, CustomStringConvertible {
    var pid: CInt
    var name: String
    var description: String { "\(name) (pid \(pid))" }
  }

  /// The process that holds a flock(2) lock on this file, if `/proc/locks` lists it. For several files read `FileLocks` once.
  static func lockHolder(of file: stat) -> Entry? { FileLocks().holder(of: file) }

  /// A process other than this one that has this device node open. Only root can see the descriptors of other users'
  /// processes.
  static func opener(of file: stat) -> Entry? {
    for name in Directory.names(in: "/proc") {
      if let pid = CInt(name), pid != getpid(), !descriptors(of: name, on: file).isEmpty { return entry(pid) }
    }
    return nil
  }

  /// Finds a visible process with this name. The kernel stores 15 bytes of a name.
  static func process(named name: String) -> Entry? {
    for process in Directory.names(in: "/proc") {
      if let pid = CInt(process), lines(of: "/proc/\(pid)/comm").first == name { return Entry(pid: pid, name: name) }
    }
    return nil
  }

  /// True when the terminal of `descriptor` is also open through another descriptor, in this process or another.
  static func isOpenElsewhere(_ descriptor: FileDescriptor) -> Bool {
    var file = stat()
    guard fstat(descriptor.rawValue, &file) == 0 else { return false }
    return descriptors(of: "self", on: file) != ["\(descriptor.rawValue)"] || opener(of: file) != nil
  }

  /// The descriptors of a process that are open on this device.
  private static func descriptors(of process: String, on file: stat) -> [String] {
    Directory.names(in: "/proc/\(process)/fd").filter { descriptor in
      var opened = stat()
      return stat("/proc/\(process)/fd/\(descriptor)", &opened) == 0 && opened.st_mode & S_IFMT == S_IFCHR
        && opened.st_rdev == file.st_rdev && (!isPseudoTerminal(file) || opened.st_dev == file.st_dev)
    }
  }

  /// Majors 136 to 143 are the Unix98 pseudo-terminals (Documentation/admin-guide/devices.txt). Each devpts instance
  /// numbers its terminals from 0, so a container's /dev/pts/0 is a different device.
  static func isPseudoTerminal(_ file: stat) -> Bool { (136...143).contains(shim_major(UInt64(file.st_rdev))) }

  static func entry(_ pid: CInt) -> Entry {
    Entry(pid: pid, name: lines(of: "/proc/\(pid)/comm").first ?? "a process")
  }

  static func lines(of path: String) -> [String] {
    guard let bytes = try? SmallFile.read(path, limit: 1 << 20) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
