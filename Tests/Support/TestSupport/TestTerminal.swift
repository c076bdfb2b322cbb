// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Makes a pseudo-terminal with the C library alone, independently of the code under test.
public func openPseudoTerminal(raw: Bool = false) throws -> TestTerminal { try TestTerminal(raw: raw) }

/// A pseudo-terminal seen from its other end: what is written here arrives in the terminal, and the other way round.
public final class TestTerminal: Sendable {
  /// The node that the code under test opens.
  public let path: String
  private let master: CInt
  /// Keeps the settings alive while nobody else has the terminal open.
  private let slave: CInt
  private let isPlugged = Locked(true)

  init(raw: Bool) throws {
    var (master, slave): (CInt, CInt) = (-1, -1)
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw Errno(rawValue: errno) }
    for descriptor in [master, slave] {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
    var name = [CChar](repeating: 0, count: 128)
    ttyname_r(slave, &name, name.count)
    path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    (self.master, self.slave) = (master, slave)
    if raw {
      var settings = termios()
      tcgetattr(slave, &settings)
      cfmakeraw(&settings)
      tcsetattr(slave, TCSANOW, &settings)
    }
  }

  deinit {
    unplug()
    Glibc.close(slave)
  }

  /// Closes the other end: to who has the terminal open, the cable was pulled.
  public func unplug() {
    isPlugged.withLock { isPlugged in
      if isPlugged { Glibc.close(master) }
      isPlugged = false
    }
  }

  /// The kernel's `struct termios2` of the terminal, 44 bytes, through a descriptor of the test's own.
  public func termios2() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 44)
    let tcgets2: CUnsignedLong = 0x802C_542A
    guard bytes.withUnsafeMutableBytes({ ioctl(slave, tcgets2, $0.baseAddress!) }) == 0 else {
      throw Errno(rawValue: errno)
    }
    return bytes
  }

  /// Input and output speed of the terminal.
  public func speeds() throws -> (input: UInt32, output: UInt32) {
    let bytes = try termios2()
    func word(_ at: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(bytes[at + $1]) << UInt32(8 * $1) } }
    return (word(36), word(40))
  }

  /// Whether somebody has set the exclusive mode.
  public func isExclusive() throws -> Bool {
    var exclusive: CInt = 0
    guard ioctl(slave, 0x8004_5440, &exclusive) == 0 else { throw Errno(rawValue: errno) }
    return exclusive != 0
  }

  // MARK: - Bytes

  /// Writes at once what fits; nil when nothing does.
  public func writeSome(_ bytes: [UInt8]) throws -> Int? {
    let count = Glibc.write(master, bytes, bytes.count)
    if count >= 0 { return count }
    if errno == EAGAIN { return nil }
    throw Errno(rawValue: errno)
  }

  /// Reads at once what there is. Not after `unplug`.
  public func readSome() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Glibc.read(master, &buffer, buffer.count)
    return Array(buffer.prefix(max(0, count)))
  }

  /// Writes all of `bytes`, waiting where it must.
  public func write(_ bytes: [UInt8]) async throws {
    try await blocking { [self] in
      var rest = bytes[...]
      while !rest.isEmpty {
        if let count = try writeSome(Array(rest.prefix(4_096))) {
          rest = rest.dropFirst(count)
        } else {
          try wait(for: POLLOUT, "room to write")
        }
      }
    }
  }

  /// Waits for `count` bytes.
  public func read(_ count: Int) async throws -> [UInt8] {
    try await blocking { [self] in
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while bytes.count < count {
        let got = Glibc.read(master, &buffer, min(buffer.count, count - bytes.count))
        if got > 0 {
          bytes += buffer.prefix(got)
        } else if got < 0, errno == EAGAIN {
          try wait(for: POLLIN, "\(count) bytes: there are \(bytes.count)")
        } else {
          throw Errno(rawValue: got == 0 ? EPIPE : errno)
        }
      }
      return bytes
    }
  }

  /// What has come since the last call, without waiting. The kernel hands over what is written to a pseudo-terminal by
  /// the time that the writer has closed it.
  public func received() -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let got = Glibc.read(master, &buffer, buffer.count)
      if got <= 0 { return bytes }
      bytes += buffer.prefix(got)
    }
  }

  private func wait(for events: CInt, _ what: String) throws {
    var entry = pollfd(fd: master, events: Int16(events), revents: 0)
    if poll(&entry, 1, Patience.milliseconds(20_000)) == 0 { throw Hang(what) }
  }
}
