// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Controls a serial line: settings, modem lines, break.
///
/// The line needn't be a terminal of this machine: it may be at the far end of a connection that carries these
/// requests, such as an RFC 2217 connection. Get it from `Transport.line` or `AccessorySession.line`. Any task may call
/// the methods. They may wait for the device, for seconds when an adapter hangs. Calls are carried out one after
/// another.
///
/// The methods throw `unsupported` for what the line doesn't have or can't do, `misconfigured` for what no line can do,
/// `cancelled` after a close, and `disconnected` (or another error with which the transport ended) when the device is
/// gone.
public protocol LineControl: Sendable {
  /// How long a byte takes with the settings in force. Doesn't ask the device; `change` updates it.
  var timing: LineTiming { get }
  /// Reads the line's current settings.
  func status() async throws(AccessoryError) -> LineStatus
  /// Changes settings of the open line, and returns the settings in force then: a device may use a slightly different
  /// rate than requested. When this throws `unsupported`, the line keeps its previous settings. Closing the line
  /// restores the settings from before it was opened.
  ///
  /// The change applies at once, also to bytes that were written and not sent yet. So wait for the reply to these bytes
  /// first.
  @discardableResult
  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus
  /// The modem lines that are raised.
  func modemLines() async throws(AccessoryError) -> ModemLines
  /// Raises some outputs and lowers others, at the same moment where the hardware can do that. Throws `misconfigured`,
  /// and changes nothing, when one of them is an input or is in both sets.
  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError)
  /// Begins or ends a break. Closing the line also ends it.
  func setBreak(_ isOn: Bool) async throws(AccessoryError)
  /// Discards bytes that the line's driver or its far end has buffered. Bytes in this process's queues stay.
  func purge(_ buffers: LineBuffers) async throws(AccessoryError)
  /// The driver's error counters, and the number of bytes that it hasn't sent yet. The default implementation throws
  /// `unsupported`.
  func activity() async throws(AccessoryError) -> LineActivity
}

extension LineControl {
  /// Throws `unsupported`, for lines without counters.
  public func activity() async throws(AccessoryError) -> LineActivity {
    throw AccessoryError(.unsupported, "this line doesn't count its errors")
  }

  /// Raises or lowers outputs. Throws the errors of `set(raising:lowering:)`.
  public func set(_ lines: ModemLines, _ isOn: Bool) async throws(AccessoryError) {
    try await set(raising: isOn ? lines : [], lowering: isOn ? [] : lines)
  }

  /// Makes these settings of an open line, and sets its modem lines. Throws the errors of `change` and `set`.
  func apply(_ configuration: TerminalConfiguration) async throws(AccessoryError) {
    try await change(
      LineChanges(
        baudRate: configuration.baudRate, dataBits: configuration.dataBits, parity: configuration.parity,
        stopBits: configuration.stopBits, flowControl: configuration.flowControl))
    for (line, setting) in [(ModemLines.dtr, configuration.dtr), (.rts, configuration.rts)] where setting != .keep {
      try await set(line, setting == .on)
    }
  }

  /// Keeps the line in the break state for `duration`, or until the task is cancelled.
  public func sendBreak(
    for duration: Duration = .milliseconds(250), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await setBreak(true)
    await clock.sleep(for: duration)
    try await setBreak(false)
  }
}

/// The buffers of a line's driver.
public struct LineBuffers: OptionSet, Sendable, Hashable {
  /// A bit for each buffer.
  public let rawValue: UInt8
  /// A set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes that have arrived and weren't read.
  public static let received = LineBuffers(rawValue: 1)
  /// Bytes that were written and weren't sent.
  public static let unsent = LineBuffers(rawValue: 2)
}
