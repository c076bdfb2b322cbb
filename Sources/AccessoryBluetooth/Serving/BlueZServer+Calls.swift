// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

// Calls from bluetoothd, for itself and on behalf of devices.

extension BlueZServer {
  /// The most requests that wait for the client, and the most devices that are known at a time.
  private static let limits = (requests: 64, centrals: 64)
  private static let unknown = BusFailure("org.freedesktop.DBus.Error.UnknownMethod", "no such method")
  private static let refused = BusFailure("org.bluez.Error.Failed", "no such object")

  func take(_ call: BusRequest) {
    guard let bluez else { return }
    let message = call.message
    func reply(_ result: Result<[BusArgument], BusFailure>) { bluez.enter { $0.answer(call.id, result) } }
    switch (message.interface, message.member) {
    case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"):
      guard let entry = services.values.first(where: { $0.objects.root == message.path }) else { break }
      return reply(.success([.objects(entry.objects.all)]))
    case ("org.freedesktop.DBus.Properties", "GetAll"):
      guard let properties = properties(message.path, message.values.first?.text) else { break }
      return reply(.success([.options(properties)]))
    case ("org.bluez.LEAdvertisement1", "Release"):
      released(message.path)
      return reply(.success([]))
    case (GATTTransport.characteristic, let member):
      guard case .characteristic(let characteristic)? = place(message.path) else { break }
      return asked(member, of: characteristic, call, reply)
    case (ServedObjects.descriptor, "ReadValue"):
      guard case .descriptor(let descriptor)? = place(message.path) else { break }
      return reply(Self.part(of: descriptor.value, Self.options(message, 0)))
    default: break
    }
    reply(.failure(Self.unknown))
  }

  private func place(_ path: String) -> ServedObjects.Place? {
    for entry in services.values { if let place = entry.objects[path] { return place } }
    return nil
  }

  private func properties(_ path: String, _ interface: String?) -> [BusArgument.Option]? {
    if let properties = advertisement(path) { return properties }
    for entry in services.values where entry.objects[path] != nil {
      return entry.objects.all.first { $0.path == path && $0.interface == interface }?.properties
    }
    return nil
  }

  private func asked(
    _ member: String, of characteristic: ServedCharacteristic, _ call: BusRequest,
    _ reply: (Result<[BusArgument], BusFailure>) -> Void
  ) {
    let message = call.message
    switch member {
    case "ReadValue":
      let options = Self.options(message, 0)
      if let value = characteristic.value { return reply(Self.part(of: value, options)) }
      guard characteristic.properties & 0x02 != 0, let central = central(options),
        request(call, central, characteristic, options, nil)
      else { return reply(.failure(Self.refused)) }
    case "WriteValue":
      let options = Self.options(message, 1)
      guard characteristic.properties & 0x0C != 0, let bytes = message.values.first?.bytes,
        bytes.count <= GATTPacket.longestValue, let central = central(options),
        request(call, central, characteristic, options, bytes)
      else { return reply(.failure(Self.refused)) }
    case "AcquireNotify":
      // After this refusal bluetoothd calls `StartNotify`, and asks again for the next device.
      if let central = central(Self.options(message, 0)) { subscribe(central, characteristic.handle) }
      reply(.failure(BusFailure("org.bluez.Error.NotSupported", "values are sent as signals")))
    case "StartNotify":
      // The subscriber is known from `AcquireNotify`, or is the only connected device.
      if !centrals.values.contains(where: { $0.subscriptions.contains(characteristic.handle) }),
        let only = onlyConnected
      {
        subscribe(only, characteristic.handle)
      }
      reply(.success([]))
    case "StopNotify":
      for path in centrals.keys.sorted() { unsubscribe(path, characteristic.handle) }
      reply(.success([]))
    case "Confirm": reply(.success([]))
    default: reply(.failure(Self.unknown))
    }
  }

  /// Passes a request to the client. Returns false if too many requests wait.
  private func request(
    _ call: BusRequest, _ path: String, _ characteristic: ServedCharacteristic, _ options: [String: BusValue],
    _ bytes: [UInt8]?
  ) -> Bool {
    guard let central = centrals[path]?.central, requests.count < Self.limits.requests else { return false }
    let offset = options["offset"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    guard 0...GATTPacket.longestValue ~= offset else { return false }
    if call.expectsReply { requests[call.id] = (path, bytes == nil) }
    tell(
      .request(
        ServingRequest(
          call.id, central, characteristic.handle, offset: offset, bytes: bytes, needsAnswer: call.expectsReply)))
    return true
  }

  func answer(_ id: Int, _ result: Result<[UInt8], RadioFailure>) {
    guard let bluez, let request = requests.removeValue(forKey: id) else { return }
    let answer: Result<[BusArgument], BusFailure> =
      switch result {
      case .success(let bytes): .success(!request.isRead ? [] : [.bytes(Array(bytes.prefix(GATTPacket.longestValue)))])
      case .failure(let failure): .failure(Self.failure(failure))
      }
    bluez.enter { $0.answer(id, answer) }
  }

  /// The error that bluetoothd turns into this refusal.
  static func failure(_ failure: RadioFailure) -> BusFailure {
    guard case .refused(let number) = failure else { return BusFailure("org.bluez.Error.NotSupported", "") }
    return switch number {
    case 2, 3: BusFailure("org.bluez.Error.NotPermitted", "")
    case 6: BusFailure("org.bluez.Error.NotSupported", "")
    case 7: BusFailure("org.bluez.Error.InvalidOffset", "")
    case 8: BusFailure("org.bluez.Error.NotAuthorized", "")
    case 13: BusFailure("org.bluez.Error.InvalidValueLength", "")
    case 0x80...0x9F: BusFailure("org.bluez.Error.Failed", "0x\(Hexadecimal.string(number))")
    // bluetoothd reports any other error to the device as "unlikely".
    default: BusFailure("org.accessorybridge.Error", "0x\(Hexadecimal.string(number))")
    }
  }

  // MARK: - Devices

  /// The path of the calling device, which is remembered; nil if the options don't name it.
  private func central(_ options: [String: BusValue]) -> String? {
    guard let path = options["device"]?.path, path.utf8.count <= BluetoothObjects.textLimit.path else { return nil }
    guard centrals[path] != nil || centrals.count < Self.limits.centrals else { return nil }
    let objects = bluez?.enter { $0.objects } ?? BluetoothObjects()
    let device = objects.devices[path]
    let peer =
      device?.address.map { RadioPeer(adapter: objects.adapters[device?.adapter ?? ""]?.address, address: $0) }
      ?? RadioPeer(name: path)
    var known = centrals[path] ?? Central(central: ServedCentral(peer))
    known.central.name = device?.name
    if let size = options["mtu"]?.integer, 23...517 ~= size { known.central.packetSize = Int(size) }
    centrals[path] = known
    return path
  }

  /// The path of the only device that is connected to the adapter; nil when there are several, or none.
  private var onlyConnected: String? {
    // The computer may have devices at another adapter, one of which can be this adapter itself.
    let all = bluez?.enter { $0.objects.devices.values.filter(\.isConnected) } ?? []
    let devices = all.filter { $0.adapter == home }
    return devices.count == 1 ? central(["device": .path(devices[0].path)]) : nil
  }

  private func subscribe(_ path: String, _ handle: Int) {
    guard centrals[path]?.subscriptions.insert(handle).inserted == true, let central = centrals[path]?.central else {
      return
    }
    tell(.subscribed(central, handle: handle))
  }

  private func unsubscribe(_ path: String, _ handle: Int) {
    guard centrals[path]?.subscriptions.remove(handle) != nil, let central = centrals[path]?.central else { return }
    tell(.unsubscribed(central, handle: handle))
  }

  // MARK: - Messages

  private static func options(_ message: BusMessage, _ index: Int) -> [String: BusValue] {
    message.values.count > index ? message.values[index].properties ?? [:] : [:]
  }

  /// The part of a constant value from the requested offset on.
  private static func part(of value: [UInt8], _ options: [String: BusValue]) -> Result<[BusArgument], BusFailure> {
    let offset = options["offset"]?.integer ?? 0
    guard 0...Int64(value.count) ~= offset else { return .failure(failure(.refused(7))) }
    return .success([.bytes(Array(value.dropFirst(Int(offset))))])
  }
}
