// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Glibc

/// The pseudo-terminals that this process has found by their numbers: "/dev/pts/7".
///
/// The kernel gives the number of a pseudo-terminal that is gone to the next one, of any program. So a command that waits for its
/// accessory to come back must not take the terminal that has the number then, unless a simulator has announced it.
enum NumberedTerminals {
  /// Identifies a terminal: a new one with the same number has another time.
  private struct Identity: Equatable {
    let inode: ino_t
    let seconds: Int
    let nanoseconds: Int
    /// The announcement of the simulator whose terminal it is; nil for other programs' terminals.
    let announcement: Announcement?

    init?(_ path: String, isAnnounced: Bool) {
      var file = stat()
      guard stat(path, &file) == 0 else { return nil }
      (inode, seconds, nanoseconds) = (file.st_ino, file.st_ctim.tv_sec, file.st_ctim.tv_nsec)
      announcement = isAnnounced ? AnnouncementFile.living(ofTerminal: path) : nil
    }

    /// Whether `other` is the same terminal, or one that a simulator has announced since.
    func isSucceeded(by other: Identity) -> Bool {
      other == self || other.announcement != nil && other.announcement != announcement
    }
  }

  /// The terminals by path. A command looks for few.
  private static let known = Locked<[String: Identity]>([:])
  private static let capacity = 64

  /// Throws `notFound` if this process has found another terminal with the same number before. This doesn't apply to a
  /// terminal found by a link, because the link is created again with each terminal. The same is true for an
  /// announcement, unless it still exists when its terminal is gone.
  static func check(_ device: Device) async throws(AccessoryError) {
    guard let path = device.address.node, path.hasPrefix("/dev/pts/"), device.link == nil else { return }
    let isAnnounced = device.source == .simulator
    guard let now = await SetupQueue(label: "terminal").run({ Identity(path, isAnnounced: isAnnounced) }) else {
      // Check this before opening it, because another program's terminal may have the number by then.
      throw AccessoryError(.notFound, code: .errno(ENOENT), "there is no \(path): is the accessory plugged in?")
    }
    let isSame = known.withLock { known in
      guard let before = known[path] else {
        if known.count < capacity { known[path] = now }
        return true
      }
      guard before.isSucceeded(by: now) else { return false }
      known[path] = now
      return true
    }
    guard !isSame else { return }
    throw AccessoryError(
      .notFound,
      "\(path) now belongs to another program: name the accessory by a link (simulate --link), which stays "
        + "the same, or start again with its new path")
  }
}
