// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Explains why a port can't be opened: which process has it open, which group may open it.
enum PortDiagnosis {
  /// The error for a failed `open`. With `isReport`, its message doesn't refer to `bridge-cli doctor`, because doctor
  /// itself prints it.
  static func error(
    opening path: String, label: String, _ errno: Errno, isReport: Bool = false
  ) -> AccessoryError {
    switch errno {
    case .noSuchFileOrDirectory, .notDirectory:
      return AccessoryError(
        .notFound, code: .errno(errno.rawValue), "there is no \(label): is the accessory plugged in?")
    case .permissionDenied, .notPermitted:
      return AccessoryError(
        .permissionDenied, code: .errno(errno.rawValue), "\(label) \(permissionAdvice(path, isReport: isReport))")
    case .resourceBusy:
      return busy(path, label: label)
    case .isDirectory:
      return AccessoryError(.unsupported, code: .errno(errno.rawValue), "\(label) is a directory, not a device")
    default:
      return AccessoryError(device: errno, "opening \(label)")
    }
  }

  /// The error for a port that is in use. `hasLock`: the caller got the advisory lock, so the holder of the lock isn't
  /// looked for.
  static func busy(_ path: String, label: String, hasLock: Bool = false) -> AccessoryError {
    var file = stat()
    var who: String
    if stat(path, &file) != 0 {
      who = "is in use"
    } else if let holder = (hasLock ? nil : ProcessTable.lockHolder(of: file)) ?? ProcessTable.opener(of: file) {
      who = holder.pid == getpid() ? "is open already in this program" : "is in use by \(holder)"
      if holder.pid != getpid(), holder.name == "bridge-cli" {
        who += ": end that command, or let bridge-cli serve open it, and several commands can use it at the same time"
      }
    } else {
      who = "is in use by another user's process (root can see which: sudo fuser \(path))"
    }
    return AccessoryError(.busy, code: .errno(EBUSY), "\(label) \(who)")
  }

  /// Advice with a command that adds a udev rule for one of the kernel's own ports, such as ttyS0. Empty when the name
  /// isn't safe in such a command.
  private static func rule(_ path: String) -> String {
    let name = path.dropFirst(5)
    guard path.hasPrefix("/dev/tty"), name.utf8.count < 32,
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return "" }
    return ", or let a udev rule give it to you: echo 'SUBSYSTEM==\"tty\", KERNEL==\"\(name)\", MODE=\"0660\", "
      + "GROUP=\"dialout\"' | sudo tee /etc/udev/rules.d/70-\(name).rules && sudo udevadm control --reload "
      + "&& sudo udevadm trigger \(path), and join that group: sudo usermod -aG dialout $USER"
  }

  private static func permissionAdvice(_ path: String, isReport: Bool) -> String {
    var file = stat()
    guard stat(path, &file) == 0 else { return "can't be reached: you have no access to a directory above it" }
    let mayGroup = file.st_mode & (S_IRGRP | S_IWGRP) == S_IRGRP | S_IWGRP
    // Nobody should join root's group, which the device nodes of usbfs belong to.
    guard mayGroup, file.st_gid != 0, let group = group(file.st_gid) else {
      let advice = "may be opened by its owner only: run this program as that user"
      guard file.st_mode & S_IFMT == S_IFCHR else { return advice }
      if isReport { return advice + rule(path) }
      return advice + ", or let a udev rule give it to you: bridge-cli doctor \(path) shows one"
    }
    if isMember(of: file.st_gid) {
      return "belongs to group \(group.name), and you are in that group, but it can't be opened"
    }
    if let user = userName(), group.members.contains(user) {
      return "belongs to group \(group.name), which you joined after you logged in: log out and in again, or use "
        + "newgrp \(group.name)"
    }
    return "belongs to group \(group.name), you are not in it: sudo usermod -aG \(group.name) $USER, then log in again"
  }

  private static func isMember(of group: gid_t) -> Bool {
    var groups = [gid_t](repeating: 0, count: 1_024)
    let count = getgroups(CInt(groups.count), &groups)
    return getegid() == group || groups.prefix(Int(max(0, count))).contains(group)
  }

  /// A group's name and the users who were added to the group.
  private static func group(_ id: gid_t) -> (name: String, members: [String])? {
    var entry = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 65_536)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard getgrgid_r(id, &entry, buffer.baseAddress, buffer.count, &found) == 0, found != nil else { return nil }
      var members: [String] = []
      var member = entry.gr_mem
      while let name = member?.pointee {
        members.append(String(cString: name))
        member = member?.successor()
      }
      return entry.gr_name.map { (String(cString: $0), members) }
    }
  }

  private static func userName() -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    return buffer.withUnsafeMutableBufferPointer { buffer in
      guard getpwuid_r(geteuid(), &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else {
        return nil
      }
      return entry.pw_name.map { String(cString: $0) }
    }
  }
}
