// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// A service of GATT.
package struct GATTService: Sendable, Equatable {
  package let path: String
  /// The kind of service.
  package var uuid: BluetoothUUID?
  /// The path of its device.
  package var device: String
  /// Whether it is a primary service. Secondary services are only included in others.
  package var isPrimary = true
  /// The paths of its included services.
  package var included: [String] = []
}

/// A characteristic of GATT: a value that is read, written, or sent by the device.
package struct GATTCharacteristic: Sendable, Equatable {
  package let path: String
  /// The kind of value.
  package var uuid: BluetoothUUID?
  /// The path of its service.
  package var service: String
  /// The supported operations, in BlueZ's words: `read`, `write`, `write-without-response`, `notify`, `indicate`.
  package var flags: Set<String> = []
  /// The most bytes in a packet, including three bytes of header; nil if BlueZ doesn't report it.
  package var packetSize: Int?
  /// Whether a program holds the descriptor for writes; nil when BlueZ offers none.
  package var isWriteAcquired: Bool?
  /// Whether a program holds the descriptor for notifications; nil when BlueZ offers none.
  package var isNotifyAcquired: Bool?
  /// Whether the device sends its value to a program.
  package var isNotifying = false

  /// Whether a program uses it at present.
  package var isInUse: Bool { isNotifying || isWriteAcquired == true || isNotifyAcquired == true }
  /// Whether the device sends its value.
  package var notifies: Bool { flags.contains("notify") || flags.contains("indicate") }
  /// Whether it accepts writes with a response.
  package var takesRequests: Bool { flags.contains("write") }
  /// Whether it accepts writes without a response.
  package var takesCommands: Bool { flags.contains("write-without-response") }
}

/// A GATT descriptor: a fact about a characteristic, such as whether it sends notifications.
package struct GATTDescriptor: Sendable, Equatable {
  package let path: String
  /// The kind of descriptor.
  package var uuid: BluetoothUUID?
  /// The path of its characteristic.
  package var characteristic: String
}

// MARK: - Properties

extension GATTService {
  /// The most included services that are kept.
  private static let includedLimit = 64

  mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let device = properties["Device"]?.path, device.utf8.count <= BluetoothObjects.textLimit.path {
      self.device = device
    }
    if let isPrimary = properties["Primary"]?.boolean { self.isPrimary = isPrimary }
    if let included = properties["Includes"]?.list {
      self.included = included.prefix(Self.includedLimit).compactMap(\.path).filter {
        $0.utf8.count <= BluetoothObjects.textLimit.path
      }
    }
  }
}

extension GATTCharacteristic {
  /// The most flags that are kept, and the valid sizes of packets.
  private static let limits = (flags: 32, packet: 23...517)

  mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let service = properties["Service"]?.path, service.utf8.count <= BluetoothObjects.textLimit.path {
      self.service = service
    }
    if let flags = properties["Flags"]?.texts {
      self.flags = Set(flags.prefix(Self.limits.flags).filter { $0.utf8.count <= 64 })
    }
    if let size = properties["MTU"]?.integer, Self.limits.packet.contains(Int(clamping: size)) {
      packetSize = Int(size)
    }
    if let isAcquired = properties["WriteAcquired"]?.boolean { isWriteAcquired = isAcquired }
    if let isAcquired = properties["NotifyAcquired"]?.boolean { isNotifyAcquired = isAcquired }
    if let isNotifying = properties["Notifying"]?.boolean { self.isNotifying = isNotifying }
  }
}

extension GATTDescriptor {
  mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let path = properties["Characteristic"]?.path, path.utf8.count <= BluetoothObjects.textLimit.path {
      characteristic = path
    }
  }
}
