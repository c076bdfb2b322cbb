// SPDX-License-Identifier: Apache-2.0

/// What an accessory is doing, in the same terms for every kind.
public struct AccessoryStatus: Sendable, Hashable {
  /// What the accessory is doing; nil when it doesn't say.
  public var state: AccessoryState?
  /// The number of the fault, which each kind of accessory defines for itself; nil when there is none, and when the
  /// accessory doesn't report faults.
  public var faultCode: UInt16?
  /// How much of the work is done, in percent, 0…100; nil when the accessory doesn't say.
  public var progress: Int?
  /// Whether the accessory reports faults by number, so that a `faultCode` of nil means that there is none.
  public var reportsFaults: Bool

  /// A status of these parts. With a fault code, `reportsFaults` is true whatever is given for it.
  public init(
    state: AccessoryState? = nil, faultCode: UInt16? = nil, progress: Int? = nil, reportsFaults: Bool = false
  ) {
    self.state = state
    self.faultCode = faultCode
    self.progress = progress
    self.reportsFaults = reportsFaults || faultCode != nil
  }
}
