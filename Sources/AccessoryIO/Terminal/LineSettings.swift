// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// The kernel's settings of a terminal line (`struct termios2`), which allow any baud rate.
struct LineSettings: Sendable, Equatable {
  private var raw: shim_termios2

  /// Reads the settings of an open terminal. Throws `ENOTTY` when `descriptor` isn't a terminal.
  init(of descriptor: FileDescriptor) throws(Errno) {
    raw = try SystemCall.ioctl(TerminalRequest.GetSettings(), on: descriptor)
  }

  /// Applies the settings at once, like TCSANOW. Doesn't wait for output to drain, which could take forever.
  func apply(to descriptor: FileDescriptor) throws(Errno) {
    try SystemCall.ioctl(TerminalRequest.SetSettings(settings: raw), on: descriptor)
  }

  /// Sets everything that `configuration` defines.
  mutating func set(_ configuration: TerminalConfiguration) {
    makeRaw()
    baudRate = configuration.baudRate
    dataBits = configuration.dataBits
    parity = configuration.parity
    stopBits = configuration.stopBits
    flowControl = configuration.flowControl
    if configuration.dtr == .keep { lowersLinesOnClose = false }
  }

  /// Sets those settings that `changes` contains.
  mutating func set(_ changes: LineChanges) {
    if let rate = changes.baudRate { baudRate = rate }
    if let bits = changes.dataBits { dataBits = bits }
    if let parity = changes.parity { self.parity = parity }
    if let bits = changes.stopBits { stopBits = bits }
    if let flowControl = changes.flowControl { self.flowControl = flowControl }
  }

  /// How long a byte takes on the line.
  var timing: LineTiming {
    LineStatus(baudRate: baudRate, dataBits: dataBits, parity: parity, stopBits: stopBits).timing
  }

  /// Makes every byte pass unchanged in both directions: no line editing, no echo, no signals, no translation of line
  /// ends (cfmakeraw(3)). Modem lines are ignored. A read waits for a byte.
  mutating func makeRaw() {
    raw.c_iflag &= ~Self.translatingInput
    raw.c_oflag &= ~UInt32(OPOST)
    raw.c_lflag &= ~Self.editing
    raw.c_cflag |= UInt32(CREAD | CLOCAL)
    withUnsafeMutableBytes(of: &raw.c_cc) { characters in
      characters[Int(VMIN)] = 1
      characters[Int(VTIME)] = 0
    }
  }

  /// True when bytes pass unchanged. Drivers may silently ignore settings that they don't support, so callers check
  /// this after reading the settings back.
  var isRaw: Bool {
    raw.c_iflag & Self.translatingInput == 0 && raw.c_oflag & UInt32(OPOST) == 0 && raw.c_lflag & Self.editing == 0
  }

  private static let translatingInput = UInt32(
    IGNBRK | BRKINT | PARMRK | INPCK | ISTRIP | INLCR | IGNCR | ICRNL | IXANY)
  private static let editing = UInt32(ECHO | ECHONL | ICANON | ISIG | IEXTEN)

  static func == (a: LineSettings, b: LineSettings) -> Bool {
    withUnsafeBytes(of: a.raw) { a in withUnsafeBytes(of: b.raw) { b in a.elementsEqual(b) } }
  }
}

// MARK: - Settings

extension LineSettings {
  /// Bits per second in both directions. After reading back, the rate that the hardware really uses.
  var baudRate: UInt32 {
    get { raw.c_ospeed }
    set {
      let both = { (bits: Int) in UInt32(bits) | UInt32(bits) << UInt32(SHIM_IBSHIFT) }
      raw.c_cflag = raw.c_cflag & ~both(SHIM_CBAUD) | both(SHIM_BOTHER)
      raw.c_ispeed = newValue
      raw.c_ospeed = newValue
    }
  }

  var dataBits: Int {
    get { [CS5: 5, CS6: 6, CS7: 7, CS8: 8][CInt(bitPattern: raw.c_cflag) & CSIZE] ?? 8 }
    set { raw.c_cflag = raw.c_cflag & ~UInt32(CSIZE) | UInt32([5: CS5, 6: CS6, 7: CS7][newValue] ?? CS8) }
  }

  var stopBits: Int {
    get { raw.c_cflag & UInt32(CSTOPB) == 0 ? 1 : 2 }
    set { set(UInt32(CSTOPB), newValue == 2) }
  }

  var parity: LineParity {
    get {
      guard raw.c_cflag & UInt32(PARENB) != 0 else { return .none }
      let isOdd = raw.c_cflag & UInt32(PARODD) != 0
      let isStick = raw.c_cflag & SHIM_CMSPAR != 0
      return isStick ? (isOdd ? .mark : .space) : (isOdd ? .odd : .even)
    }
    set {
      set(UInt32(PARENB), newValue != .none)
      set(UInt32(PARODD), newValue == .odd || newValue == .mark)
      set(SHIM_CMSPAR, newValue == .mark || newValue == .space)
    }
  }

  var flowControl: LineFlowControl {
    get {
      if raw.c_cflag & SHIM_CRTSCTS != 0 { return .hardware }
      return raw.c_iflag & UInt32(IXON | IXOFF) != 0 ? .software : .none
    }
    set {
      set(SHIM_CRTSCTS, newValue == .hardware)
      raw.c_iflag = raw.c_iflag & ~UInt32(IXON | IXOFF) | (newValue == .software ? UInt32(IXON | IXOFF) : 0)
    }
  }

  /// Whether the last close lowers DTR and RTS (HUPCL).
  var lowersLinesOnClose: Bool {
    get { raw.c_cflag & UInt32(HUPCL) != 0 }
    set { set(UInt32(HUPCL), newValue) }
  }

  private mutating func set(_ bit: UInt32, _ isOn: Bool) {
    raw.c_cflag = isOn ? raw.c_cflag | bit : raw.c_cflag & ~bit
  }

  /// The first setting that differs from `wanted`, in words; nil when none does.
  func difference(from wanted: LineSettings) -> String? {
    if dataBits != wanted.dataBits { return "\(wanted.dataBits) data bits" }
    if parity != wanted.parity { return "\(wanted.parity.rawValue) parity" }
    if stopBits != wanted.stopBits { return "\(wanted.stopBits) stop bits" }
    if flowControl != wanted.flowControl { return "\(wanted.flowControl.rawValue) flow control" }
    return nil
  }
}
