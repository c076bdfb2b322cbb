// SPDX-License-Identifier: Apache-2.0

/// How a terminal is opened: raw, eight data bits, no parity, one stop bit.
public struct TerminalConfiguration: Sendable, Hashable {
  /// The device node, or a link to it.
  public var path: String
  /// Bits a second; any integer that the hardware can make.
  public var baudRate: UInt32
  /// What to call the device in errors; the path, unless said otherwise.
  public var label: String

  /// The terminal at `path`, with 115,200 baud unless said otherwise.
  public init(path: String, baudRate: UInt32 = 115_200, label: String? = nil) {
    self.path = path
    self.baudRate = baudRate
    self.label = label ?? path
  }
}
