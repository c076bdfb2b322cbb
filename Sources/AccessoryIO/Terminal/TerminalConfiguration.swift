// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How to open a terminal. It is always in raw mode; these are the settings of the line.
public struct TerminalConfiguration: Sendable, Hashable {
  /// The parity bit after the data bits.
  public typealias Parity = LineParity
  /// The kind of flow control.
  public typealias FlowControl = LineFlowControl

  /// What happens to a modem line at opening.
  public enum ModemLineSetting: String, Sendable, Hashable, CaseIterable {
    /// It stays as it is. (The kernel always raises DTR and RTS at the first open.)
    case keep
    /// It is raised.
    case on
    /// It is lowered.
    case off
  }

  /// The direction control of an RS-485 transceiver, which the kernel's driver does (linux/serial.h).
  public struct RS485: Sendable, Hashable {
    /// Whether RTS is raised while sending. The default is `true`.
    public var rtsOnSend = true
    /// Whether RTS is raised at other times. The default is `false`.
    public var rtsAfterSend = false
    /// Time from the change of RTS to the first bit, in whole milliseconds. The default is zero.
    public var delayBeforeSend = Duration.zero
    /// Time from the last bit to the change of RTS, in whole milliseconds. The default is zero.
    public var delayAfterSend = Duration.zero
    /// Whether the bytes that this end sends are received as well. The default is `false`.
    public var receivesWhileSending = false

    /// RTS is raised while sending, without delays.
    public init() {}
  }

  /// The device node, or a link to it.
  public var path: String
  /// The link that led to `path`; nil when the device was named by its node. See `LinkedTerminals`.
  package var link: String?
  /// The device's name in error messages; the path by default.
  public var label: String
  /// Bits per second; any integer above 0 that the hardware supports.
  public var baudRate: UInt32
  /// Data bits of a character, 5…8. The default is 8.
  public var dataBits = 8
  /// The parity bit. The default is `none`.
  public var parity = Parity.none
  /// Stop bits of a character, 1 or 2. The default is 1.
  public var stopBits = 1
  /// The kind of flow control. The default is `none`.
  public var flowControl = FlowControl.none
  /// Data Terminal Ready. The default is `keep`, for boards that reset when it changes: then closing doesn't lower it
  /// either (HUPCL stays off), so that the next open doesn't reset the board again.
  public var dtr = ModemLineSetting.keep
  /// Request To Send. Has no effect with hardware flow control, which drives it. The default is `keep`.
  public var rts = ModemLineSetting.keep
  /// RS-485 direction control; nil leaves the driver's setting.
  public var rs485: RS485?
  /// Asks the driver to deliver bytes at once (ASYNC_LOW_LATENCY). On by default; drivers that don't support it ignore
  /// it.
  public var lowLatency = true
  /// Time from opening until the first byte is sent or received, for boards that reset when they are opened. The
  /// default is zero.
  public var settle = Duration.zero

  /// The terminal at `path`: 115,200 baud by default, eight data bits, no parity, one stop bit.
  public init(path: String, baudRate: UInt32 = 115_200, label: String? = nil) {
    self.path = path
    self.baudRate = baudRate
    self.label = label ?? path
  }

  /// Throws `misconfigured` for settings that no serial line supports, which the kernel would change silently.
  func check() throws(AccessoryError) {
    try LineChanges(baudRate: baudRate, dataBits: dataBits, stopBits: stopBits).check(label)
  }
}
