// SPDX-License-Identifier: Apache-2.0

/// What an accessory is doing, in the same terms for every kind.
public struct AccessoryStatus: Sendable, Hashable {
  /// What the accessory is doing; `notInitialized` when it doesn't know or doesn't say.
  public var state: AccessoryState
  /// The number of the fault, which each kind of accessory defines for itself; nil when there is none.
  public var faultCode: UInt16?
  /// How much of the work is done, in percent, 0…100; nil when the accessory doesn't say.
  public var progress: UInt8?

  /// A status of these parts.
  public init(state: AccessoryState, faultCode: UInt16? = nil, progress: UInt8? = nil) {
    self.state = state
    self.faultCode = faultCode
    self.progress = progress
  }
}
