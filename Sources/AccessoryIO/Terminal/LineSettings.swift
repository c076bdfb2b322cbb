// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// The kernel's settings of a terminal line (`struct termios2`), which take any baud rate.
struct LineSettings: Sendable, Equatable {
  private var raw: shim_termios2

  /// Reads the settings of an open terminal. Throws `ENOTTY` when it is none.
  init(of descriptor: FileDescriptor) throws(Errno) {
    var raw = shim_termios2()
    _ = try SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tcgets2(descriptor.rawValue, &raw) }
    self.raw = raw
  }

  /// Applies the settings now (as TCSANOW does): never waits for output to drain, which could take for ever.
  func apply(to descriptor: FileDescriptor) throws(Errno) {
    var raw = raw
    _ = try SystemCall.run(.ioctl, on: descriptor.rawValue) { shim_tcsets2(descriptor.rawValue, &raw) }
  }

  /// Bits a second that the line sends with; after reading back, what the hardware really does.
  var baudRate: UInt32 { raw.c_ospeed }

  /// Sets both directions to any rate.
  mutating func setBaudRate(_ rate: UInt32) {
    let both = { (bits: Int) in UInt32(bits) | UInt32(bits) << UInt32(SHIM_IBSHIFT) }
    raw.c_cflag = raw.c_cflag & ~both(SHIM_CBAUD) | both(SHIM_BOTHER)
    raw.c_ispeed = rate
    raw.c_ospeed = rate
  }

  /// Every byte passes as it is, both ways: no line editing, no echo, no signals, no translation of line ends, no
  /// XON/XOFF (cfmakeraw(3)); eight data bits, no parity, one stop bit; modem lines ignored. A read waits for a byte.
  mutating func makeRaw() {
    raw.c_iflag &= ~UInt32(IGNBRK | BRKINT | PARMRK | INPCK | ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXOFF | IXANY)
    raw.c_oflag &= ~UInt32(OPOST)
    raw.c_lflag &= ~UInt32(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    raw.c_cflag &= ~UInt32(CSIZE | PARENB | PARODD | CSTOPB) & ~0o20_000_000_000  // CRTSCTS, a macro with a cast
    raw.c_cflag |= UInt32(CS8 | CREAD | CLOCAL)
    withUnsafeMutableBytes(of: &raw.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
  }

  /// True when bytes pass unchanged. Drivers may silently ignore what they can't do, so settings are read back.
  var isRaw: Bool {
    var wanted = self
    wanted.makeRaw()
    return wanted == self
  }

  static func == (a: LineSettings, b: LineSettings) -> Bool {
    withUnsafeBytes(of: a.raw) { a in withUnsafeBytes(of: b.raw) { b in a.elementsEqual(b) } }
  }
}
