// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore

/// A service of a scripted peripheral.
public struct ScriptedService: Sendable {
  let uuid: BluetoothUUID
  let isPrimary: Bool
  let included: [BluetoothUUID]
  let characteristics: [ScriptedCharacteristic]

  /// A service with a UUID of 4, 8 or 32 digits, the last with or without hyphens. Traps on any other text. `included` are the UUIDs of services in it, which the
  /// peripheral has, too.
  public init(
    _ uuid: String, isPrimary: Bool = true, included: [String] = [], _ characteristics: [ScriptedCharacteristic]
  ) {
    (self.uuid, self.isPrimary, self.included) = (scripted(uuid), isPrimary, included.map(scripted))
    self.characteristics = characteristics
  }
}

/// A characteristic of a scripted peripheral.
public struct ScriptedCharacteristic: Sendable {
  /// What can be done with a characteristic, as GATT declares it.
  public struct Properties: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt8
    /// The properties with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// It can be read.
    public static let read = Self(rawValue: 0x02)
    /// It can be written without an answer.
    public static let writeWithoutResponse = Self(rawValue: 0x04)
    /// It can be written with an answer.
    public static let write = Self(rawValue: 0x08)
    /// It sends its value.
    public static let notify = Self(rawValue: 0x10)
    /// It sends its value, and waits for an answer.
    public static let indicate = Self(rawValue: 0x20)
  }

  let uuid: BluetoothUUID
  let properties: Properties
  let value: [UInt8]
  let descriptors: [(uuid: BluetoothUUID, value: [UInt8])]

  /// A characteristic with a UUID as a service's. One that sends its value has the descriptor
  /// 2902, too.
  public init(
    _ uuid: String, _ properties: Properties, value: [UInt8] = [], descriptors: KeyValuePairs<String, [UInt8]> = [:]
  ) {
    (self.uuid, self.properties, self.value) = (scripted(uuid), properties, value)
    var all = descriptors.map { (uuid: scripted($0.key), value: $0.value) }
    if !properties.isDisjoint(with: [.notify, .indicate]) { all.insert((.clientConfiguration, [0, 0]), at: 0) }
    self.descriptors = all
  }
}

/// The UUID in a text that `CBUUID(string:)` takes, or of 32 digits without hyphens.
func scripted(_ text: String) -> BluetoothUUID {
  var digits = text.prefix(2).lowercased() == "0x" ? text.dropFirst(2) : text[...]
  if digits.utf8.count == 32 {
    for place in [20, 16, 12, 8] { digits.insert("-", at: digits.index(digits.startIndex, offsetBy: place)) }
  }
  guard let uuid = BluetoothUUID(digits) else { preconditionFailure("no UUID of 4, 8 or 32 digits: \(text)") }
  return uuid
}

/// The services as a radio tells them, and the values behind them.
struct ScriptedTable: Sendable {
  private(set) var services: [RadioService] = []
  /// By handle.
  var values: [Int: [UInt8]] = [:]
  private(set) var properties: [Int: ScriptedCharacteristic.Properties] = [:]
  private(set) var uuids: [Int: BluetoothUUID] = [:]

  /// Handles count from `first`.
  init(_ scripted: [ScriptedService], first: Int = 1) {
    var next = first
    func handle(_ count: Int = 1) -> Int {
      defer { next += count }
      return next
    }
    for service in scripted {
      var made = RadioService(service.uuid, handle: handle(), isPrimary: service.isPrimary)
      for characteristic in service.characteristics {
        // The declaration has a handle, and the value one.
        let place = handle(2)
        uuids[place] = characteristic.uuid
        values[place] = characteristic.value
        properties[place] = characteristic.properties
        let descriptors = characteristic.descriptors.map { descriptor in
          let place = handle()
          uuids[place] = descriptor.uuid
          values[place] = descriptor.value
          return RadioDescriptor(descriptor.uuid, handle: place)
        }
        made.characteristics.append(
          RadioCharacteristic(
            characteristic.uuid, handle: place, properties: characteristic.properties.rawValue, descriptors))
      }
      services.append(made)
    }
    for (index, service) in scripted.enumerated() {
      services[index].included = service.included.compactMap { uuid in services.first { $0.uuid == uuid }?.handle }
    }
  }

  /// The handle behind the last attribute.
  var end: Int { (uuids.keys.max() ?? 0) + 16 }

  /// The first characteristic with this UUID.
  func characteristic(_ uuid: BluetoothUUID) -> Int? { properties.keys.filter { uuids[$0] == uuid }.min() }
}
