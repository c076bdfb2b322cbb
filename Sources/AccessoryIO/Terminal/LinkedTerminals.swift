// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// The pseudo-terminals that this process has opened by a link.
///
/// The kernel gives the number of a pseudo-terminal that is gone to the next one. If the program that made a link was
/// killed, its link then leads to the terminal of another program. A program that waits for its device to come back
/// must not open that terminal, so a link counts only once it was made again.
enum LinkedTerminals {
  /// Identifies a file: a new file at the same path has another value.
  private struct FileIdentity: Equatable {
    var device: dev_t
    var inode: ino_t
    var changedSeconds: Int
    var changedNanoseconds: Int

    init(_ file: stat) {
      (device, inode) = (file.st_dev, file.st_ino)
      (changedSeconds, changedNanoseconds) = (file.st_ctim.tv_sec, file.st_ctim.tv_nsec)
    }
  }

  private struct Opened {
    let linkPath: String
    let link: FileIdentity
    let terminal: FileIdentity
  }

  /// The links of a process are few. The oldest ones are forgotten.
  private static let capacity = 64
  private static let opened = Locked<[Opened]>([])

  /// Throws `notFound` if this process has opened another terminal by the same link, and the link wasn't made again
  /// since. May block.
  static func check(_ configuration: TerminalConfiguration) throws(AccessoryError) {
    guard let linkPath = configuration.link, configuration.path.hasPrefix("/dev/pts/") else { return }
    var (link, terminal) = (stat(), stat())
    guard lstat(linkPath, &link) == 0, stat(configuration.path, &terminal) == 0 else { return }
    let now = (link: FileIdentity(link), terminal: FileIdentity(terminal))
    let isStale = opened.withLock { opened in
      opened.contains { $0.linkPath == linkPath && $0.link == now.link && $0.terminal != now.terminal }
    }
    guard isStale else { return }
    throw AccessoryError(
      .notFound,
      "\(linkPath) is an old link: its terminal is gone, and \(configuration.path) belongs to another program now. "
        + "Start the program again that made the link")
  }

  /// Remembers a terminal that was opened. May block.
  static func add(_ configuration: TerminalConfiguration, _ descriptor: FileDescriptor) {
    guard let linkPath = configuration.link, configuration.path.hasPrefix("/dev/pts/") else { return }
    var (link, terminal) = (stat(), stat())
    guard lstat(linkPath, &link) == 0, fstat(descriptor.rawValue, &terminal) == 0 else { return }
    let new = Opened(linkPath: linkPath, link: FileIdentity(link), terminal: FileIdentity(terminal))
    opened.withLock { opened in
      opened.removeAll { $0.linkPath == linkPath }
      if opened.count == capacity { opened.removeFirst() }
      opened.append(new)
    }
  }
}
