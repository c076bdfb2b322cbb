// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// The line control of a terminal of this machine.
///
/// On a USB adapter, each request is a message over the bus, which may take seconds when the adapter hangs. So requests
/// run on the device's setup queue, one after another. Changes of a pseudo-terminal can't block: while that queue is
/// idle, they run on the thread that asks.
final class TerminalControl: LineControl {
  private let terminal: Terminal
  private let setup: SetupQueue
  private let label: String
  /// Whether a change may block.
  private let hasLine: Bool
  private let nanosecondsPerByte: Atomic<Int64>
  /// The driver's settings as they were read last.
  private let driver = Locked<DriverFacts?>(nil)
  /// The error of requests after the transport has ended.
  private let ending = Locked<AccessoryError?>(nil)

  init(_ terminal: Terminal, label: String, setup: SetupQueue) {
    self.terminal = terminal
    self.label = label
    self.setup = setup
    hasLine = terminal.hasLine
    nanosecondsPerByte = Atomic(terminal.settings.timing.perByte.inNanoseconds)
  }

  var timing: LineTiming { LineTiming(perByte: .nanoseconds(nanosecondsPerByte.load(ordering: .relaxed))) }

  func status() async throws(AccessoryError) -> LineStatus {
    try await run("read its settings") { control throws(Errno) in try control.read() }
  }

  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try await perform { [self] () throws(AccessoryError) in
      try checkOpen()
      let timing: LineTiming
      do throws(AccessoryError) {
        timing = try terminal.change(changes, label: label).timing
      } catch {
        switch error.code {
        case _ where error.kind == .disconnected: throw .disconnected(label, code: error.code)
        case .errno(EINVAL): throw AccessoryError(.unsupported, code: error.code, "\(label) can't do that: \(error)")
        default: throw error
        }
      }
      nanosecondsPerByte.store(timing.perByte.inNanoseconds, ordering: .relaxed)
      return try attempt("read its settings") { () throws(Errno) in try read(rereadingDriver: false) }
    }
  }

  func modemLines() async throws(AccessoryError) -> ModemLines {
    try await run("read modem lines") { control throws(Errno) in try control.terminal.descriptor.modemLines() }
  }

  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    try await run("set modem lines") { control throws(Errno) in
      try control.terminal.descriptor.set(raising: raised, lowering: lowered)
    }
  }

  func setBreak(_ isOn: Bool) async throws(AccessoryError) {
    try await run("send a break") { control throws(Errno) in try control.terminal.setBreak(isOn) }
  }

  func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    try await perform { [self] () throws(AccessoryError) in
      try checkOpen()
      try attempt("discard buffered bytes") { () throws(Errno) in try terminal.purge(buffers) }
    }
  }

  func activity() async throws(AccessoryError) -> LineActivity {
    try await run("say what it has to send") { control throws(Errno) in
      let descriptor = control.terminal.descriptor
      let unsent = try SystemCall.ioctl(TerminalRequest.GetOutputCount(), on: descriptor)
      var activity = LineActivity(unsentCount: Int(unsent))
      // Some drivers have no counters.
      guard let counters = try? SystemCall.ioctl(TerminalRequest.GetCounters(), on: descriptor) else { return activity }
      activity.overruns = UInt32(bitPattern: counters.overrun) &+ UInt32(bitPattern: counters.buf_overrun)
      activity.parityErrors = UInt32(bitPattern: counters.parity)
      activity.framingErrors = UInt32(bitPattern: counters.frame)
      activity.breaks = UInt32(bitPattern: counters.brk)
      return activity
    }
  }

  /// Restores the settings and closes the terminal. Call it on the setup queue. `error` is the reason, nil when the
  /// owner closes the transport.
  func release(_ error: AccessoryError?) {
    ending.withLock { $0 = error ?? .closed(label) }
    terminal.release()
  }

  // MARK: - On the setup queue

  /// Reads the settings of the line and of its driver. `change` can't change the driver's settings, so without
  /// `rereadingDriver` they are taken from the last reading.
  private func read(rereadingDriver: Bool = true) throws(Errno) -> LineStatus {
    let descriptor = terminal.descriptor
    let settings = try LineSettings(of: descriptor)
    var status = LineStatus(
      baudRate: settings.baudRate, dataBits: settings.dataBits, parity: settings.parity, stopBits: settings.stopBits,
      flowControl: settings.flowControl, modemLines: try? descriptor.modemLines())
    status.lowersLinesOnClose = settings.lowersLinesOnClose
    let known = rereadingDriver ? nil : driver.withLock { $0 }
    let facts = known ?? DriverFacts(descriptor)
    driver.withLock { $0 = facts }
    status.isLowLatency = facts.isLowLatency
    status.latencyTimer = facts.latencyTimer
    status.rs485 = facts.rs485
    return status
  }

  /// Runs a change: on the setup queue, or on this thread where it can't block.
  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable () throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    if hasLine { return try await setup.run(body) }
    return try await setup.runAtOnce(body)
  }

  private func run<Value: Sendable>(
    _ action: String, _ body: @escaping @Sendable (TerminalControl) throws(Errno) -> Value
  ) async throws(AccessoryError) -> Value {
    try await setup.run { [self] () throws(AccessoryError) in
      try checkOpen()
      return try attempt(action) { () throws(Errno) in try body(self) }
    }
  }

  private func checkOpen() throws(AccessoryError) {
    if let error = ending.withLock({ $0 }) { throw error }
  }

  private func attempt<Value>(_ action: String, _ body: () throws(Errno) -> Value) throws(AccessoryError) -> Value {
    do throws(Errno) {
      return try body()
    } catch .invalidArgument, .inappropriateIOCTLForDevice, .notSupported {
      let reason = "its driver doesn't support it, or it has no such lines"
      throw AccessoryError(.unsupported, "\(label) can't \(action): \(reason)")
    } catch {
      if AccessoryError.Kind(device: error) == .disconnected {
        throw .disconnected(label, code: .errno(error.rawValue))
      }
      throw AccessoryError(device: error, "asking \(label) to \(action)")
    }
  }
}

/// The settings of a terminal's driver that aren't settings of the line.
private struct DriverFacts: Sendable {
  var isLowLatency: Bool?
  var latencyTimer: Duration?
  var rs485: TerminalConfiguration.RS485?

  init(_ descriptor: FileDescriptor) {
    isLowLatency = descriptor.isLowLatency
    latencyTimer = LatencyTimer.milliseconds(of: descriptor).map { .milliseconds($0) }
    rs485 = descriptor.rs485
  }
}

/// The latency timer of FTDI chips: how long they wait for more bytes before they deliver.
enum LatencyTimer {
  /// The timer of the adapter of an open terminal, in milliseconds; nil when it has none.
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
