// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How a terminal is opened: raw, with these settings of the line.
public struct TerminalConfiguration: Sendable, Hashable {
  /// A parity bit behind the data bits.
  public typealias Parity = LineParity
  /// The kind of flow control.
  public typealias FlowControl = LineFlowControl

  /// What opening does with a modem line.
  public enum ModemLineSetting: String, Sendable, Hashable, CaseIterable {
    /// Left as it is. (The kernel always raises DTR and RTS at the first open.)
    case keep
    /// Raised.
    case on
    /// Lowered.
    case off
  }

  /// The direction control of an RS-485 transceiver, done by the kernel's driver (linux/serial.h).
  public struct RS485: Sendable, Hashable {
    /// Level of RTS while sending. The default is `true`.
    public var rtsOnSend = true
    /// Level of RTS at other times. The default is `false`.
    public var rtsAfterSend = false
    /// Time from RTS to the first bit, none by default. The kernel counts whole milliseconds.
    public var delayBeforeSend = Duration.zero
    /// Time from the last bit to RTS, none by default. The kernel counts whole milliseconds.
    public var delayAfterSend = Duration.zero
    /// Whether one's own bytes are received too. The default is `false`.
    public var receivesWhileSending = false

    /// RTS high while sending, no delays.
    public init() {}
  }

  /// The device node, or a link to it.
  public var path: String
  /// The device's name in errors; the path by default.
  public var label: String
  /// Bits a second; any integer above 0 that the hardware can make.
  public var baudRate: UInt32
  /// Data bits of a character, 5…8.
  public var dataBits = 8
  /// The parity bit. The default is `none`.
  public var parity = Parity.none
  /// Stop bits of a character, 1 or 2.
  public var stopBits = 1
  /// The kind of flow control. The default is `none`.
  public var flowControl = FlowControl.none
  /// Data Terminal Ready. A board that resets when it changes wants `keep`: then it isn't lowered on close either
  /// (HUPCL stays off), so that the next open doesn't reset the board again.
  public var dtr = ModemLineSetting.keep
  /// Request To Send. Not with hardware flow control, which moves it by itself. The default is `keep`.
  public var rts = ModemLineSetting.keep
  /// RS-485 direction control; nil leaves the driver's.
  public var rs485: RS485?
  /// Asks the driver to deliver bytes at once (ASYNC_LOW_LATENCY); on by default, ignored by drivers that can't.
  public var lowLatency = true
  /// Time after opening until the first byte is sent or taken: for boards that reset when they are opened. The default
  /// is zero.
  public var settle = Duration.zero

  /// The terminal at `path`: 115,200 baud unless said otherwise, eight data bits, no parity, one stop bit.
  public init(path: String, baudRate: UInt32 = 115_200, label: String? = nil) {
    self.path = path
    self.baudRate = baudRate
    self.label = label ?? path
  }

  /// Throws `misconfigured` for settings that no serial line supports, and that the kernel would change silently.
  func check() throws(AccessoryError) {
    try LineChanges(baudRate: baudRate, dataBits: dataBits, stopBits: stopBits).check(label)
  }
}
