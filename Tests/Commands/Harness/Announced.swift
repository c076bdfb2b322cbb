// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// An announcement of an accessory that a test plays itself.
struct Announced {
  /// Locked, as the file of a simulator that runs.
  private let lock: CInt

  /// Announces the accessory S1 at the pseudo-terminal `path`.
  init(_ path: String, driver: String = "framed", in box: Sandbox) throws {
    let folder = box.runtime.path + "/accessory-bridge"
    mkdir(folder, 0o700)
    mkdir(folder + "/simulated", 0o700)
    try box.runtime.write(Array(#"{"path":"\#(path)","driver":"\#(driver)","serial":"S1"}"#.utf8), to: ".device")
    lock = open(box.runtime.path + "/.device", O_RDONLY | O_CLOEXEC)
    try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
    try #require(
      rename(box.runtime.path + "/.device", folder + "/simulated/pts-\(path.drop { !$0.isNumber }).json") == 0)
  }

  /// The announcement no longer counts.
  func end() { close(lock) }
}
