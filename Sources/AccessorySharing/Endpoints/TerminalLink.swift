// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// A symbolic link to a pseudo-terminal, whose path doesn't change when the terminal does.
struct TerminalLink: Sendable {
  private let path: String
  /// The path of the terminal's node.
  private(set) var target: String

  /// Creates the link. An older link to a terminal is replaced. Throws `misconfigured` when something else is at the
  /// path.
  init(_ path: String, to target: String) throws(AccessoryError) {
    let full = WorkingFolder.absolute(path)
    if SymbolicLink.target(of: full)?.hasPrefix("/dev/pts/") == true { unlink(full) }
    guard symlink(target, full) == 0 else {
      let error = Errno(rawValue: errno)
      if error == .fileExists {
        throw AccessoryError(.misconfigured, code: .errno(EEXIST), "\(path) exists and is not a link to a terminal")
      }
      throw AccessoryError(errno: error, "making the link \(path)")
    }
    (self.path, self.target) = (full, target)
  }

  /// Has the link lead to another terminal. There is no moment without a link, even for programs that open it just now. Throws
  /// `misconfigured` when something else is at the path by now.
  mutating func lead(to target: String) throws(AccessoryError) {
    guard SymbolicLink.target(of: path) == self.target else {
      throw AccessoryError(.misconfigured, "\(path) is no longer the link that was made there")
    }
    let new = try TerminalLink("\(path).\(getpid())", to: target)
    guard rename(new.path, path) == 0 else {
      let error = Errno(rawValue: errno)
      new.remove()
      throw AccessoryError(errno: error, "changing the link \(path)")
    }
    self.target = target
  }

  /// Removes the link, unless it has another target by now.
  func remove() { if SymbolicLink.target(of: path) == target { unlink(path) } }
}
