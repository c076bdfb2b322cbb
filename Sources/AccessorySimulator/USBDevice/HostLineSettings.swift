// SPDX-License-Identifier: Apache-2.0

/// What a host asked of a simulated serial line: settings that have no effect on the bytes, and lines that nobody sees.
public struct HostLineSettings: Sendable, Hashable {
  /// The parity bit.
  public enum Parity: String, Sendable, Hashable, CaseIterable {
    case none, odd, even, mark, space
  }

  /// Bits a second.
  public var baudRate: UInt32 = 9_600
  /// Data bits of a character.
  public var dataBits: UInt8 = 8
  /// The parity bit.
  public var parity = Parity.none
  /// Stop bits of a character: 1, 1.5 or 2.
  public var stopBits = 1.0
  /// Data Terminal Ready.
  public var dtr = false
  /// Request To Send.
  public var rts = false
  /// True while the host holds the line in the break state.
  public var isBreak = false
  /// Breaks that have begun.
  public var breaks = 0
  /// Milliseconds that an FTDI chip is to wait for more bytes; nil where there is no such timer.
  public var latencyTimer: UInt8?

  mutating func setBreak(_ isOn: Bool) {
    if isOn, !isBreak { breaks &+= 1 }
    isBreak = isOn
  }
}
