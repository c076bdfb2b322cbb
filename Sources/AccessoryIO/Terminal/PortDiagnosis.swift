// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Explains why a port can't be had: who holds it, which group may open it.
enum PortDiagnosis {
  /// The error for a failed `open`.
  static func error(opening path: String, label: String, _ errno: Errno) -> AccessoryError {
    switch errno {
    case .noSuchFileOrDirectory, .notDirectory:
      return AccessoryError(
        .notFound, code: .errno(errno.rawValue), "there is no \(label): is the accessory plugged in?")
    case .permissionDenied, .notPermitted:
      return AccessoryError(
        .permissionDenied, code: .errno(errno.rawValue), "\(label) \(permissionAdvice(path))")
    case .resourceBusy:
      return busy(path, label: label)
    case .isDirectory:
      return AccessoryError(.unsupported, code: .errno(errno.rawValue), "\(label) is a directory, not a device")
    default:
      return AccessoryError(errno: errno, "opening \(label)")
    }
  }

  /// The error for a port that somebody has. `hasLock` when the caller got the advisory lock: then it is no use to
  /// ask who has that.
  static func busy(_ path: String, label: String, hasLock: Bool = false) -> AccessoryError {
    var file = stat()
    let who: String
    if stat(path, &file) != 0 {
      who = "is in use"
    } else if let holder = (hasLock ? nil : ProcessTable.lockHolder(of: file)) ?? ProcessTable.opener(of: file) {
      who = holder.pid == getpid() ? "is open already in this program" : "is in use by \(holder)"
    } else {
      who = "is in use by another user's process (root can see which: sudo fuser \(path))"
    }
    return AccessoryError(.busy, code: .errno(EBUSY), "\(label) \(who)")
  }

  private static func permissionAdvice(_ path: String) -> String {
    var file = stat()
    guard stat(path, &file) == 0 else { return "may not be opened by you: a directory above it is closed to you" }
    let mayGroup = file.st_mode & (S_IRGRP | S_IWGRP) == S_IRGRP | S_IWGRP
    guard mayGroup, let group = groupName(file.st_gid) else {
      return "may be opened by its owner only: ask for a udev rule, or run this as that user"
    }
    if isMember(of: file.st_gid) { return "belongs to group \(group), which you are in, yet it can't be opened" }
    return "belongs to group \(group), you are not in it: sudo usermod -aG \(group) $USER, then log in again"
  }

  private static func isMember(of group: gid_t) -> Bool {
    var groups = [gid_t](repeating: 0, count: 1_024)
    let count = getgroups(CInt(groups.count), &groups)
    return getegid() == group || groups.prefix(Int(max(0, count))).contains(group)
  }

  private static func groupName(_ id: gid_t) -> String? {
    var entry = group()
    var found: UnsafeMutablePointer<group>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard getgrgid_r(id, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return String(cString: entry.gr_name)
  }
}
