// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// What this process holds, as `/proc/self` tells it.
public enum ThisProcess {
  /// Its open descriptors, without the one that was needed to look, and without timerfds: the dispatch library opens
  /// and closes those for its own timers, such as the time limits of tests.
  public static var descriptors: Set<CInt> {
    // The directory's own descriptor is the lowest free one, and closed again by the time it would be seen twice.
    Set(
      Directory.names(in: "/proc/self/fd").compactMap { CInt($0) }.filter {
        path(of: $0) != "anon_inode:[timerfd]" && isOpen($0)
      })
  }

  /// The number of its open descriptors.
  public static var descriptorCount: Int { descriptors.count }

  /// Bytes of memory that are its own and in use (resident and not shared with a file): statm of proc(5).
  public static var ownMemory: Int {
    let bytes = (try? SmallFile.read("/proc/self/statm", limit: 256)) ?? []
    let pages = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    return pages.count > 2 ? (pages[1] - pages[2]) * Int(sysconf(CInt(_SC_PAGESIZE))) : 0
  }

  /// The variables of this process that a program which was built with it needs, too: where Swift's libraries are, and the options of a
  /// sanitizer. `Program` and `TerminalProgram` pass them on.
  static var variablesForPrograms: [String: String] { variables("LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS") }

  /// Those of these variables that are set.
  public static func variables(_ names: String...) -> [String: String] {
    var variables: [String: String] = [:]
    for name in names {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    return variables
  }

  /// Whether a sanitizer is in it: its memory is the process's, too, and the address sanitizer keeps what was freed for a while.
  public static let isSanitized = ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
  /// Whether its use of memory says something of the code that is tested.
  public static var ownMemoryIsTelling: Bool { !isSanitized }

  /// The number of its threads.
  public static var threadCount: Int { Directory.names(in: "/proc/self/task").count }

  /// The number of its threads that have this name.
  public static func threadCount(named name: String) -> Int {
    Directory.names(in: "/proc/self/task").filter { thread in
      let bytes = (try? SmallFile.read("/proc/self/task/\(thread)/comm", limit: 64)) ?? []
      return String(decoding: bytes, as: UTF8.self) == name + "\n"
    }.count
  }

  /// The paths of its open descriptors that begin with `prefix`.
  public static func openPaths(beginningWith prefix: String) -> [String] {
    descriptors.compactMap { path(of: $0) }.filter { $0.hasPrefix(prefix) }
  }

  /// An open descriptor of the file at `path`, other than `known`.
  public static func descriptor(of path: String, except known: CInt) -> CInt? {
    descriptors.first { $0 != known && self.path(of: $0) == path }
  }
}

extension ThisProcess {
  /// Waits until no descriptor is open that isn't in `descriptors`.
  public static func waitForNoDescriptors(except descriptors: Set<CInt>) async throws {
    try await eventually("these to be closed: \(self.descriptors.subtracting(descriptors).map { path(of: $0) ?? "?" })")
    {
      self.descriptors.isSubset(of: descriptors)
    }
  }

  private static func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) != -1 }

  private static func path(of descriptor: CInt) -> String? {
    SymbolicLink.target(of: "/proc/self/fd/\(descriptor)")
  }
}
