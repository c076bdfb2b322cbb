// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// The line beside its bytes: its settings as they really are, its modem lines, break.
///
/// On a USB adapter each of these is a message over the bus, which may take seconds when the adapter is sick: so they
/// are made on the device's setup queue, one after another.
public final class TerminalControl: Sendable {
  /// A line as it is.
  public struct Facts: Sendable, Hashable {
    /// Bits a second that the hardware really does.
    public var baudRate: UInt32
    /// Data bits of a character.
    public var dataBits: Int
    /// The parity bit.
    public var parity: TerminalConfiguration.Parity
    /// Stop bits of a character.
    public var stopBits: Int
    /// Who tells whom to pause.
    public var flowControl: TerminalConfiguration.FlowControl
    /// Whether the last close lowers DTR and RTS.
    public var lowersLinesOnClose: Bool
    /// The lines that are raised; nil on a terminal that has none.
    public var modemLines: ModemLines?
    /// Whether the driver delivers at once; nil when it doesn't say.
    public var isLowLatency: Bool?
    /// Milliseconds that an adapter's chip waits for more bytes (FTDI); nil when there is no such timer.
    public var latencyTimer: Int?
    /// RS-485 direction control; nil when it is off or not there.
    public var rs485: TerminalConfiguration.RS485?
  }

  private let terminal: Terminal
  private let setup: SetupQueue
  private let label: String
  private let isReleased = Locked(false)

  init(_ terminal: Terminal, label: String, setup: SetupQueue) {
    self.terminal = terminal
    self.label = label
    self.setup = setup
  }

  /// Reads everything back from the kernel. Throws `disconnected`, `cancelled` after a close.
  public func facts() async throws(AccessoryError) -> Facts {
    try await run("reading the settings of") { descriptor throws(Errno) in
      let settings = try LineSettings(of: descriptor)
      return Facts(
        baudRate: settings.baudRate, dataBits: settings.dataBits, parity: settings.parity,
        stopBits: settings.stopBits, flowControl: settings.flowControl,
        lowersLinesOnClose: settings.lowersLinesOnClose, modemLines: try? descriptor.modemLines(),
        isLowLatency: descriptor.isLowLatency, latencyTimer: LatencyTimer.milliseconds(of: descriptor),
        rs485: descriptor.rs485)
    }
  }

  /// Raises or lowers output lines. Throws `unsupported` on a terminal without modem lines.
  public func set(_ lines: ModemLines, _ isOn: Bool) async throws(AccessoryError) {
    try await run("setting modem lines of") { descriptor throws(Errno) in try descriptor.set(lines, isOn) }
  }

  /// Holds the line in the break state for `duration`.
  public func sendBreak(
    for duration: Duration = .milliseconds(250), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await run("sending a break to") { descriptor throws(Errno) in try descriptor.setBreak(true) }
    await clock.sleep(for: duration)
    try await run("sending a break to") { descriptor throws(Errno) in try descriptor.setBreak(false) }
  }

  /// Puts everything back and closes. On the setup queue.
  func release() {
    isReleased.withLock { $0 = true }
    terminal.release()
  }

  private func run<Value: Sendable>(
    _ action: String, _ body: @escaping @Sendable (FileDescriptor) throws(Errno) -> Value
  ) async throws(AccessoryError) -> Value {
    try await setup.run { [self] () throws(AccessoryError) in
      if isReleased.withLock({ $0 }) { throw .closed(label) }
      do throws(Errno) {
        return try body(terminal.descriptor)
      } catch .invalidArgument, .inappropriateIOCTLForDevice {
        throw AccessoryError(.unsupported, "\(label) can't do that: \(action) it fails")
      } catch {
        throw AccessoryError.Kind(device: error) == .disconnected
          ? .disconnected(label, code: .errno(error.rawValue)) : AccessoryError(device: error, "\(action) \(label)")
      }
    }
  }
}

/// The timer of FTDI chips, which hold bytes back for more to come.
enum LatencyTimer {
  /// The timer of the adapter behind an open terminal.
  static func milliseconds(of descriptor: FileDescriptor) -> Int? {
    var file = stat()
    guard fstat(descriptor.rawValue, &file) == 0 else { return nil }
    let (major, minor) = (shim_major(UInt64(file.st_rdev)), shim_minor(UInt64(file.st_rdev)))
    guard let bytes = try? SmallFile.read("/sys/dev/char/\(major):\(minor)/device/latency_timer", limit: 16) else {
      return nil
    }
    return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
  }
}
