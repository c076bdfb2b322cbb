// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Controls a serial line: settings, modem lines, break.
///
/// A line needn't be a terminal of this machine: it may lie behind a connection that can carry these requests, as RFC
/// 2217 does. Take it from `Transport.line` or `AccessorySession.line`. All methods may be called from any task and may
/// wait for the device, for seconds when an adapter hangs; calls are carried out one after another.
///
/// They throw `unsupported` for what the line doesn't have or can't do, `misconfigured` for what no line can do,
/// `cancelled` after a close, and `disconnected` (or another error with which the transport ended) when the device is gone.
public protocol LineControl: Sendable {
  /// How long a byte takes with the settings in force. Doesn't ask the device; `change` updates it.
  var timing: LineTiming { get }
  /// Reads the line's current settings.
  func status() async throws(AccessoryError) -> LineStatus
  /// Changes settings of the open line, and returns what is in force then: a device may do a slightly different rate than
  /// the one that was asked for. With `unsupported` the line keeps the settings that it had. What was set before the line
  /// was opened is put back when it is closed.
  ///
  /// Takes effect at once, also on bytes that were written and not sent yet. Wait for the reply to these, first.
  @discardableResult
  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus
  /// The lines that are raised.
  func modemLines() async throws(AccessoryError) -> ModemLines
  /// Raises some outputs and lowers others, at the same moment where the hardware can do that. Throws `misconfigured`, and
  /// changes nothing, where one of them is an input or is in both sets.
  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError)
  /// Begins a break, or ends it. Closing the line ends it, too.
  func setBreak(_ isOn: Bool) async throws(AccessoryError)
  /// Discards bytes that are buffered in the line's driver or at its far end. Bytes in this process's queues stay.
  func purge(_ buffers: LineBuffers) async throws(AccessoryError)
}

extension LineControl {
  /// Raises or lowers outputs. Throws what `set(raising:lowering:)` throws.
  public func set(_ lines: ModemLines, _ isOn: Bool) async throws(AccessoryError) {
    try await set(raising: isOn ? lines : [], lowering: isOn ? [] : lines)
  }

  /// Holds the line in the break state for `duration`, or until the task is cancelled.
  public func sendBreak(
    for duration: Duration = .milliseconds(250), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) {
    try await setBreak(true)
    await clock.sleep(for: duration)
    try await setBreak(false)
  }
}

/// Bytes that are buffered in a line's driver.
public struct LineBuffers: OptionSet, Sendable, Hashable {
  /// A bit for each buffer.
  public let rawValue: UInt8
  /// A set of these bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Bytes that have arrived, and nobody has read.
  public static let received = LineBuffers(rawValue: 1)
  /// Bytes that were written, and were not sent.
  public static let unsent = LineBuffers(rawValue: 2)
}
