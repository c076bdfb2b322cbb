// SPDX-License-Identifier: Apache-2.0

import CFloor
import Dispatch
import Glibc

/// A device at the other end of a pseudo-terminal, which the benchmark itself is: its end is read and written here.
final class SharedTerminal: Sendable {
  /// The terminal that programs open. It is held open, so that it isn't hung up between them.
  let path: String
  /// The device's end.
  var master: CInt { terminal.device }
  private let terminal: cfloor_terminal

  init() throws(Failure) {
    var terminal = cfloor_terminal()
    try Failure.check(cfloor_terminal_open(&terminal), "making a pseudo-terminal")
    path = withUnsafeBytes(of: terminal.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    self.terminal = terminal
  }

  deinit {
    var terminal = terminal
    cfloor_terminal_close(&terminal)
  }

  /// Opens a terminal raw.
  static func open(_ path: String) throws(Failure) -> CInt {
    let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    try Failure.check(descriptor, "opening \(path)")
    var settings = termios()
    tcgetattr(descriptor, &settings)
    cfmakeraw(&settings)
    tcsetattr(descriptor, TCSANOW, &settings)
    return descriptor
  }
}

/// Bytes at descriptors that block.
enum Bytes {
  /// Writes `total` bytes, `piece` at a time.
  static func send(_ total: Int, to descriptor: CInt, piece: Int) {
    let bytes = [UInt8](repeating: 0x55, count: piece)
    var left = total
    while left > 0 {
      let count = write(descriptor, bytes, min(piece, left))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      left -= count
    }
  }

  /// Reads `total` bytes. Throws when nothing came for ten seconds, or all has ended.
  static func receive(_ total: Int, from descriptor: CInt) throws(Failure) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var left = total
    while left > 0 {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 10_000) == 1 else { throw Failure("\(left) of \(total) bytes did not come") }
      let count = read(descriptor, &buffer, min(buffer.count, left))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure("the connection ended, \(left) of \(total) bytes missing") }
      left -= count
    }
  }

  /// Nanoseconds from the first write at one end until all was read at the other.
  static func time(_ total: Int, from source: CInt, to sink: CInt, piece: Int) throws -> Double {
    let start = now()
    let writer = DispatchGroup()
    DispatchQueue.global().async(group: writer) { send(total, to: source, piece: piece) }
    try receive(total, from: sink)
    let end = now()
    writer.wait()
    return end - start
  }

  /// Nanoseconds of the median of `count` round trips of 16 bytes: from the client to the device and back.
  static func roundTrip(_ count: Int, client: CInt, device: CInt) throws -> Double {
    var times: [Double] = []
    for _ in 0..<count {
      let start = now()
      send(16, to: client, piece: 16)
      try receive(16, from: device)
      send(16, to: device, piece: 16)
      try receive(16, from: client)
      times.append(now() - start)
    }
    return times.median
  }

  /// The kernel's monotonic clock in nanoseconds.
  static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
