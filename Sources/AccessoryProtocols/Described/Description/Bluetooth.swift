// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription {
  /// How accessories of a protocol look on the air, and which characteristics carry their bytes.
  public struct Bluetooth: Sendable, Hashable {
    /// Their names, in which `*` stands for any characters; empty where the name says nothing.
    public var names: [String] = []
    /// The companies whose data they send; empty where that says nothing.
    public var manufacturers: [UInt16] = []
    /// The service that they tell.
    public var service: BluetoothUUID?
    /// The characteristic that is written; nil for the one that is found by itself.
    public var write: BluetoothUUID?
    /// The characteristic that sends notifications; nil for the one that is found by itself.
    public var notify: BluetoothUUID?
    /// The characteristic that is told `greetingBytes` before anything else; nil for none.
    public var greetingCharacteristic: BluetoothUUID?
    /// What it is told.
    public var greetingBytes: [UInt8] = []

    /// Nothing is said.
    public init() {}
  }
}
