// SPDX-License-Identifier: Apache-2.0

/// What a host asked of a simulated serial line: settings that have no effect on the bytes, and lines that nobody sees.
public struct HostLineSettings: Sendable, Hashable {
  /// The parity bit.
  public enum Parity: String, Sendable, Hashable, CaseIterable {
    case none, odd, even, mark, space
  }

  /// Bits a second. The default is 9,600.
  public var baudRate: UInt32 = 9_600
  /// Data bits of a character. The default is 8.
  public var dataBits: UInt8 = 8
  /// The parity bit. The default is `none`.
  public var parity = Parity.none
  /// Stop bits of a character: 1, 1.5 or 2. The default is 1.0.
  public var stopBits = 1.0
  /// Data Terminal Ready. The default is `false`.
  public var dtr = false
  /// Request To Send. The default is `false`.
  public var rts = false
  /// True while the host holds the line in the break state. The default is `false`.
  public var isBreak = false
  /// Breaks that have begun. The default is 0.
  public var breaks = 0
  /// How long an FTDI chip is to wait for more bytes, in whole milliseconds; nil where there is no such timer.
  public var latencyTimer: Duration?

  mutating func setBreak(_ isOn: Bool) {
    if isOn, !isBreak { breaks &+= 1 }
    isBreak = isOn
  }
}
