// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Console
import Glibc
import SystemPackage

/// A console's log file: connections, and the bytes that were sent and received, with times.
struct ConsoleLog {
  private let descriptor: CInt
  private let path: String

  /// Opens the file for appending, and creates it if it doesn't exist.
  init(_ path: String) throws(AccessoryError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "opening \(path)") }
  }

  func bytes(_ what: String, _ bytes: [UInt8]) throws(AccessoryError) {
    try write(LogLine.bytes(what, bytes, at: WallClock.milliseconds))
  }

  func remark(_ text: String) throws(AccessoryError) { try write(LogLine.remark(text, at: WallClock.milliseconds)) }

  private func write(_ line: String) throws(AccessoryError) {
    let bytes = Array((line + "\n").utf8)
    let count = Glibc.write(descriptor, bytes, bytes.count)
    guard count == bytes.count else {
      let error = count < 0 ? Errno(rawValue: errno) : .noSpace
      throw AccessoryError(.ioFailure, code: .errno(error.rawValue), "writing to \(path): \(error)")
    }
  }

  func close() { Glibc.close(descriptor) }
}

extension WallClock {
  /// The local time of day, like "14:03:59.123".
  static var timeOfDayWithMilliseconds: String {
    let rest = String(milliseconds % 1_000)
    return timeOfDay + "." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
