// SPDX-License-Identifier: Apache-2.0

/// The settings of a simulated serial line that the host has requested. They have no effect on the bytes.
public struct HostLineSettings: Sendable, Hashable {
  /// The parity bit.
  public enum Parity: String, Sendable, Hashable, CaseIterable {
    case none, odd, even, mark, space
  }

  /// The baud rate, in bits per second. The default is 9,600.
  public var baudRate: UInt32 = 9_600
  /// Data bits of a character. The default is 8.
  public var dataBits: UInt8 = 8
  /// The parity bit. The default is `none`.
  public var parity = Parity.none
  /// Stop bits of a character: 1, 1.5 or 2. The default is 1.
  public var stopBits = 1.0
  /// The modem line Data Terminal Ready. The default is `false`.
  public var dtr = false
  /// The modem line Request To Send. The default is `false`.
  public var rts = false
  /// Whether the line is in the break state. The default is `false`.
  public var isBreak = false
  /// The number of breaks so far. The default is 0.
  public var breaks = 0
  /// How long an FTDI chip waits for more bytes before it sends a packet, in whole milliseconds; nil for other devices.
  public var latencyTimer: Duration?

  mutating func setBreak(_ isOn: Bool) {
    if isOn, !isBreak { breaks &+= 1 }
    isBreak = isOn
  }
}
