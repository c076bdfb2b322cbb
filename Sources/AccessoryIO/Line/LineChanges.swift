// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Changes of an open line's settings. A setting that is nil stays as it is.
public struct LineChanges: Sendable, Hashable {
  /// Bits per second, above 0.
  public var baudRate: UInt32?
  /// Data bits of a character, 5…8.
  public var dataBits: Int?
  /// The parity bit.
  public var parity: LineParity?
  /// Stop bits of a character, 1 or 2.
  public var stopBits: Int?
  /// The kind of flow control.
  public var flowControl: LineFlowControl?

  /// Creates a set of changes; a setting that isn't given doesn't change.
  public init(
    baudRate: UInt32? = nil, dataBits: Int? = nil, parity: LineParity? = nil, stopBits: Int? = nil,
    flowControl: LineFlowControl? = nil
  ) {
    self.baudRate = baudRate
    self.dataBits = dataBits
    self.parity = parity
    self.stopBits = stopBits
    self.flowControl = flowControl
  }

  /// Throws `misconfigured` for settings that no serial line supports; `label` is the device's name in the error
  /// message.
  public func check(_ label: String) throws(AccessoryError) {
    func refuse(_ setting: String, _ allowed: String) -> AccessoryError {
      AccessoryError(.misconfigured, "\(label) can't be set to \(setting): \(allowed)")
    }
    // A rate of 0 would hang up the line.
    if baudRate == 0 { throw refuse("0 baud", "write the baud rate that the device uses") }
    if let dataBits, !(5...8).contains(dataBits) { throw refuse("\(dataBits) data bits", "5, 6, 7 or 8 are possible") }
    if let stopBits, !(1...2).contains(stopBits) { throw refuse("\(stopBits) stop bits", "1 or 2 are possible") }
  }
}
