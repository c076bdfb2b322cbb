// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// The bus objects of one of our services: the service, its characteristics and their descriptors. bluetoothd asks for all of them
/// when the service is registered.
struct ServedObjects {
  let service: ServedService
  /// The path of the root object.
  let root: String
  private var places: [String: Place] = [:]

  /// What an object stands for.
  enum Place: Equatable {
    case service
    case characteristic(ServedCharacteristic)
    case descriptor(ServedDescriptor)
  }

  /// The path above all our objects.
  static let tree = "/org/accessorybridge/served"

  init(_ service: ServedService) {
    self.service = service
    root = "\(Self.tree)/service\(service.number)"
    places[servicePath] = .service
    for characteristic in service.characteristics {
      places[path(of: characteristic)] = .characteristic(characteristic)
      for (index, descriptor) in characteristic.descriptors.enumerated() {
        places[path(of: characteristic, descriptor: index)] = .descriptor(descriptor)
      }
    }
  }

  private var servicePath: String { root + "/service" }

  func path(of characteristic: ServedCharacteristic) -> String { "\(servicePath)/char\(characteristic.handle)" }

  private func path(of characteristic: ServedCharacteristic, descriptor: Int) -> String {
    "\(path(of: characteristic))/desc\(descriptor)"
  }

  /// What the object at this path stands for; nil if there is none.
  subscript(path: String) -> Place? { places[path] }

  /// All objects, parents before children.
  var all: [BusArgument.Object] {
    var objects = [
      BusArgument.Object(
        servicePath, "org.bluez.GattService1",
        [.init("UUID", .text(service.uuid.text)), .init("Primary", .boolean(service.isPrimary))])
    ]
    for characteristic in service.characteristics {
      var properties: [BusArgument.Option] = [
        .init("UUID", .text(characteristic.uuid.text)), .init("Service", .path(servicePath)),
        .init("Flags", .texts(characteristic.flags)),
      ]
      // With this property bluetoothd calls `AcquireNotify`, which names the device. `StartNotify` doesn't.
      if characteristic.properties & 0x30 != 0 { properties.append(.init("NotifyAcquired", .boolean(false))) }
      objects.append(.init(path(of: characteristic), GATTTransport.characteristic, properties))
      for (index, descriptor) in characteristic.descriptors.enumerated() {
        objects.append(
          .init(
            path(of: characteristic, descriptor: index), Self.descriptor,
            [
              .init("UUID", .text(descriptor.uuid.text)),
              .init("Characteristic", .path(path(of: characteristic))),
              .init("Flags", .texts(["read"])),
            ]))
      }
    }
    return objects
  }

  static let descriptor = "org.bluez.GattDescriptor1"

  /// Why it can't be offered; nil when it can.
  static func refusal(of service: ServedService) -> AccessoryError? {
    func error(_ text: String) -> AccessoryError {
      AccessoryError(.misconfigured, "the service \(service.uuid) can't be offered: \(text)")
    }
    guard service.characteristics.count <= ServedService.limits.characteristics else {
      return error("it has more than \(ServedService.limits.characteristics) characteristics")
    }
    for characteristic in service.characteristics {
      guard !characteristic.flags.isEmpty else { return error("\(characteristic.uuid) can't be used for anything") }
      guard characteristic.descriptors.count <= ServedService.limits.descriptors else {
        return error("\(characteristic.uuid) has more than \(ServedService.limits.descriptors) descriptors")
      }
      guard
        ([characteristic.value ?? []] + characteristic.descriptors.map(\.value))
          .allSatisfy({ $0.count <= GATTPacket.longestValue })
      else { return error("a value of \(characteristic.uuid) has more than \(GATTPacket.longestValue) bytes") }
    }
    return nil
  }
}
