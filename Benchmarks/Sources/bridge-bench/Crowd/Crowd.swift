// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CFloor
import FamilyAF1
import Glibc

/// Many devices: one C process that serves them all, each at a pseudo-terminal of its own.
final class Crowd {
  let paths: [String]
  private var device = cfloor_device()

  init(_ count: Int) throws(Failure) {
    try Self.raiseDescriptorLimit(to: 3 * count + 200)
    var terminals: [cfloor_terminal] = []
    defer { for index in terminals.indices { cfloor_terminal_close(&terminals[index]) } }
    for index in 0..<count {
      var terminal = cfloor_terminal()
      try Failure.check(
        cfloor_terminal_open(&terminal), "making pseudo-terminal \(index + 1) (/proc/sys/kernel/pty/max)")
      terminals.append(terminal)
    }
    paths = terminals.map { terminal in
      withUnsafeBytes(of: terminal.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
    try Failure.check(cfloor_device_crowd(terminals, terminals.count, &device), "starting a device process")
  }

  deinit { cfloor_device_end(&device) }

  /// Opens a link to the device at `path`.
  static func open(_ path: String) async throws -> AF1Accessory {
    try await AF1Accessory.open(AccessorySession.open(TerminalConfiguration(path: path)))
  }

  private static func raiseDescriptorLimit(to needed: Int) throws(Failure) {
    var limit = rlimit()
    try Failure.check(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit), "reading the descriptor limit")
    guard limit.rlim_cur < rlim_t(needed) else { return }
    guard limit.rlim_max >= rlim_t(needed) else {
      throw Failure("\(needed) descriptors are needed and \(limit.rlim_max) allowed: ulimit -Hn")
    }
    limit.rlim_cur = rlim_t(needed)
    try Failure.check(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit), "raising the descriptor limit")
  }
}
