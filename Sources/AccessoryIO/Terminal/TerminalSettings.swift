// SPDX-License-Identifier: Apache-2.0

/// The settings of a serial line. See `TerminalConfiguration` for the meaning of each.
public struct TerminalSettings: Sendable, Hashable {
  /// The baud rate, in bits per second. The default is 115,200.
  public var baudRate: UInt32 = 115_200
  /// Data bits of a character, 5…8.
  public var dataBits = 8
  /// The parity bit. The default is `none`.
  public var parity = TerminalConfiguration.Parity.none
  /// Stop bits of a character, 1 or 2.
  public var stopBits = 1
  /// How sender and receiver pause each other. The default is `none`.
  public var flowControl = TerminalConfiguration.FlowControl.none
  /// The modem line Data Terminal Ready. The default is `keep`.
  public var dtr = TerminalConfiguration.ModemLineSetting.keep
  /// The modem line Request To Send. The default is `keep`.
  public var rts = TerminalConfiguration.ModemLineSetting.keep
  /// RS-485 direction control; nil leaves the serial driver's setting.
  public var rs485: TerminalConfiguration.RS485?
  /// Asks the serial driver to deliver bytes at once, without waiting for more. The default is `true`.
  public var lowLatency = true
  /// The time after opening before the first byte is sent or accepted. The default is zero.
  public var settle = Duration.zero

  /// The default settings: 115,200 baud, eight data bits, no parity, one stop bit.
  public init() {}

  /// These settings for the terminal at `path`, called `label` in errors.
  public func configuration(path: String, label: String? = nil) -> TerminalConfiguration {
    var configuration = TerminalConfiguration(path: path, baudRate: baudRate, label: label)
    configuration.dataBits = dataBits
    configuration.parity = parity
    configuration.stopBits = stopBits
    configuration.flowControl = flowControl
    configuration.dtr = dtr
    configuration.rts = rts
    configuration.rs485 = rs485
    configuration.lowLatency = lowLatency
    configuration.settle = settle
    return configuration
  }
}
