// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription {
  /// How accessories of a protocol look on the air, and which characteristics carry their bytes.
  public struct Bluetooth: Sendable, Hashable {
    /// What they tell on the air: each of these is enough. Empty where nothing is said.
    public var looks: [Look] = []
    /// The service that has the characteristics. Usually it is the one that is told.
    public var service: BluetoothUUID?
    /// The characteristic that is written; nil for the one that is found by itself.
    public var write: BluetoothUUID?
    /// The characteristic that sends notifications; nil for the one that is found by itself.
    public var notify: BluetoothUUID?
    /// The characteristic that is told `greetingBytes` before anything else; nil for none.
    public var greetingCharacteristic: BluetoothUUID?
    /// What it is told.
    public var greetingBytes: [UInt8] = []
    /// The most bytes that it is told: those of a write before a larger packet is negotiated.
    static let greetingLimit = 20

    /// What accessories tell on the air. All that is said here must fit.
    public struct Look: Sendable, Hashable {
      /// Their names, in which `*` stands for any characters and `?` for one; empty where the name says nothing.
      public var names: [String] = []
      /// How their addresses begin; empty where the address says nothing.
      public var addresses: [[UInt8]] = []
      /// The companies whose data they send; empty where that says nothing.
      public var manufacturers: [UInt16] = []
      /// How these data begin.
      public var data: [UInt8] = []
      /// The service that they tell.
      public var service: BluetoothUUID?

      /// Nothing is said.
      public init() {}
    }

    /// Nothing is said.
    public init() {}
  }
}
