// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// A connection to a Bluetooth Low Energy device for reading values, one at a time. It carries no bytes. A disconnection ends it.
///
/// It only reads values. It writes nothing to the device, and doesn't subscribe to notifications.
public actor GATTValues: DeviceChannel, IOActor {
  /// The device's name for people.
  public nonisolated let label: String

  package nonisolated let io: IOThread
  private let bluez: BlueZ
  private let device: String
  /// Whether this program has made the connection, and so must end it.
  private let ownsConnection: Bool
  private let changes = EventHub<Int>(limit: 4)
  private var percent: Int?
  private var observer: Int?
  private var isOver = false
  private let closed = OneShot<Void>()

  /// The time limits for reading a value, and for bluetoothd to read the battery after the device was connected.
  private static let limits = (read: Duration.seconds(10), battery: Duration.seconds(5))
  private static let (batteryLimit, nameLimit) = (8, 64)
  private static let batteryService = BluetoothUUID(short: 0x180F)
  private static let batteryLevel = BluetoothUUID(short: 0x2A19)

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Attributes.
  public static let kind = ChannelKind.attributes
  /// What it is, for errors.
  public static let device = "Bluetooth Low Energy device"
  /// How it is used, for errors.
  public static let manner = "is only asked for values"

  /// By its Bluetooth address.
  public static func source(of address: DeviceAddress) -> ChannelSource<GATTValues>? {
    guard case .ble(let address, let adapter) = address else { return nil }
    return { request throws(AccessoryError) in
      try await open(address, by: adapter ?? request.adapter, label: request.label, io: request.io)
    }
  }

  /// Connects a device, and searches for it if BlueZ doesn't know it. Throws the errors of `GATTTransport.open`, except
  /// `busy`.
  public static func open(
    _ address: BluetoothAddress, by adapter: BluetoothAdapterName? = nil, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> GATTValues {
    let bluez = try await BlueZ.open(io: io)
    return try await attempt { () throws(AccessoryError) in
      try await open(
        address, by: adapter, label: label ?? DeviceAddress.ble(address, adapter: adapter).description, over: bluez)
    } onFailure: { _ in
      await bluez.close()
    }
  }

  /// Like `open` above, over a connection to bluetoothd that this one takes over.
  package static func open(
    _ address: BluetoothAddress, by adapter: BluetoothAdapterName? = nil, label: String, over bluez: BlueZ
  ) async throws(AccessoryError) -> GATTValues {
    let (device, isOurs) = try await bluez.connect(
      address, by: adapter, label: label, searching: GATTTransport.searchLimit, within: GATTTransport.connectLimit)
    let values = GATTValues(bluez, device: device.path, label: label, ownsConnection: isOurs)
    try await values.start()
    return values
  }

  private init(_ bluez: BlueZ, device: String, label: String, ownsConnection: Bool) {
    (self.io, self.bluez, self.device, self.label) = (bluez.io, bluez, device, label)
    self.ownsConnection = ownsConnection
  }

  private func start() async throws(AccessoryError) {
    let path = device
    observer = await bluez.observe { [weak self] event, objects in
      let level =
        if case .value(let value, _) = event { objects.characteristics[value]?.uuid } else { nil as BluetoothUUID? }
      self?.enter { $0.follow(event, objects.devices[path], isBattery: level == Self.batteryLevel) }
    }
    // If it fails, the bus has ended, which is reported elsewhere.
    try? await bluez.follow(only: device)
    let now = await bluez.objects.devices[device]
    percent = now?.batteryPercent
    // The device may have been disconnected before it was observed.
    guard now?.isConnected == true else {
      let error = AccessoryError.disconnected(label)
      end(error)
      await closed.value()
      throw error
    }
  }

  // MARK: - Asking

  /// The services that the device advertises or has.
  public func services() async -> Set<BluetoothUUID> {
    let objects = await bluez.objects
    let found = objects.services.values.filter { $0.device == device }.compactMap(\.uuid)
    return (objects.devices[device]?.services ?? []).union(found)
  }

  /// Reads a characteristic of any service; nil if no service has a readable one. Throws `timedOut`, `disconnected`,
  /// `permissionDenied` when it must be paired first, `cancelled`, and `ioFailure`.
  public func read(_ characteristic: BluetoothUUID) async throws(AccessoryError) -> [UInt8]? {
    try check()
    guard let found = await find(characteristic).first else { return nil }
    return try await read(found, GATTTransport.characteristic)
  }

  private func read(_ path: String, _ interface: String) async throws(AccessoryError) -> [UInt8] {
    do throws(BusFailure) {
      let values = try await bluez.call(path, interface, "ReadValue", [.options([])], within: Self.limits.read)
      guard let bytes = values.first?.bytes else { throw .malformed }
      return Array(bytes.prefix(GATTPacket.longestValue))
    } catch {
      try check()
      throw await bluez.refusal(error, "reading a value of \(label)", of: device)
    }
  }

  /// The paths of these characteristics that can be read, in the order of the device's table.
  private func find(_ uuid: BluetoothUUID) async -> [String] {
    let objects = await bluez.objects
    let services = Set(objects.services.values.lazy.filter { [device] in $0.device == device }.map(\.path))
    let found = objects.characteristics.values.filter {
      $0.uuid == uuid && services.contains($0.service) && $0.flags.contains("read")
    }
    return found.map(\.path).sorted()
  }

  /// A battery of a device that has several.
  public struct Battery: Sendable, Hashable {
    /// Its name in the device's descriptors, or a number if they have none. Comes from the device.
    public let name: String
    /// Its charge in percent.
    public let percent: Int
  }

  /// The batteries of a device with several Battery Services, in the order of its table; empty for any other device. A battery that
  /// can't be read now is left out. Throws the other errors of `read`.
  public func batteries() async throws(AccessoryError) -> [Battery] {
    try check()
    let levels = await find(Self.batteryLevel).prefix(Self.batteryLimit)
    guard levels.count > 1 else { return [] }
    var batteries: [Battery] = []
    for (index, level) in levels.enumerated() {
      do throws(AccessoryError) {
        guard let percent = Self.percent(try await read(level, GATTTransport.characteristic)) else { continue }
        batteries.append(Battery(name: await name(of: level) ?? "\(index + 1)", percent: percent))
      } catch {
        guard [.permissionDenied, .unsupported, .notFound, .ioFailure].contains(error.kind) else { throw error }
      }
    }
    return batteries
  }

  /// The name in a characteristic's descriptors: the user description, or the presentation format.
  private func name(of characteristic: String) async -> String? {
    let descriptors = await bluez.objects.descriptors.values.filter { $0.characteristic == characteristic }
    for kind in [0x2901, 0x2904] as [UInt16] {
      guard let found = descriptors.first(where: { $0.uuid == BluetoothUUID(short: kind) }),
        let value = try? await read(found.path, GATTTransport.descriptor),
        let name = kind == 0x2901 ? Self.text(value) : Self.presentation(value)
      else { continue }
      return name
    }
    return nil
  }

  private static func text(_ value: [UInt8]) -> String? {
    let text = String(decoding: value.prefix { $0 != 0 }.prefix(Self.nameLimit), as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  /// The description in a Characteristic Presentation Format, of the Bluetooth SIG's name space (Assigned Numbers, 2.4.2).
  private static func presentation(_ value: [UInt8]) -> String? {
    guard value.count == 7, value[4] == 1 else { return nil }
    let number = UInt16(value[6]) << 8 | UInt16(value[5])
    let places = [
      "front", "back", "top", "bottom", "upper", "lower", "main", "backup", "auxiliary", "supplementary", "flash",
      "inside",
      "outside", "left", "right", "internal", "external",
    ]
    if 1...255 ~= number { return "\(number)" }
    return places.indices.contains(Int(number) - 0x100) ? places[Int(number) - 0x100] : nil
  }

  /// The battery's charge in percent: from bluetoothd, which reads the Battery Service by itself, or from the device.
  /// Throws `unsupported` if there is no Battery Service, `badData` if the value is no percentage, and the errors of
  /// `read`.
  public func batteryPercent() async throws(AccessoryError) -> Int {
    try check()
    if let percent = await bluez.objects.devices[device]?.batteryPercent { return percent }
    if let bytes = try await read(Self.batteryLevel) {
      guard let percent = Self.percent(bytes) else {
        throw AccessoryError(.badData, "\(label) sent a battery level that is not a percentage")
      }
      return percent
    }
    guard await services().contains(Self.batteryService) else {
      throw AccessoryError(.unsupported, "\(label) doesn't report its battery: it has no Battery Service (180f)")
    }
    // bluetoothd hides the service, and reads it soon after connecting.
    let (path, gone) = (device, AccessoryError.disconnected(label))
    let hint = await bluez.unpaired(device).map { AccessoryError.pairingHint($0) } ?? ""
    let late = AccessoryError(.timedOut, "\(label) has a Battery Service, but bluetoothd hasn't read it\(hint)")
    return try await bluez.first(within: Self.limits.battery, otherwise: late) { objects in
      guard let device = objects.devices[path], device.isConnected else { return .failure(gone) }
      return device.batteryPercent.map { .success($0) }
    }
  }

  private static func percent(_ bytes: [UInt8]) -> Int? { bytes.count == 1 && bytes[0] <= 100 ? Int(bytes[0]) : nil }

  /// Changes of the battery's charge from now on. Only the last unread changes are kept. The stream throws when the
  /// device is disconnected, and ends when this program closes the connection.
  public nonisolated func batteryChanges() -> EventStream<Int> { changes.stream() }

  /// Waits for the end.
  public nonisolated func ended() async throws(AccessoryError) { for try await _ in batteryChanges() {} }

  private func check() throws(AccessoryError) {
    guard isOver else { return }
    try changes.end?.get()
    throw AccessoryError(.cancelled, "\(label) is closed")
  }

  // MARK: - Events

  private func follow(_ event: BlueZEvent, _ device: BluetoothDevice?, isBattery: Bool) {
    guard !isOver else { return }
    switch event {
    case .gone(let error): end(AccessoryError(.disconnected, "\(label) was disconnected: \(error.message)"))
    case .changed where device?.isConnected != true: end(.disconnected(label))
    case .changed(self.device): tell(device?.batteryPercent)
    case .value(let path, let bytes) where isBattery && path.hasPrefix(self.device + "/"): tell(Self.percent(bytes))
    case .changed, .value, .returned: break
    }
  }

  private func tell(_ percent: Int?) {
    guard let percent, percent != self.percent else { return }
    self.percent = percent
    changes.send(percent)
  }

  // MARK: - Ending

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    changes.finish(error)
    Task {
      if let observer { await bluez.stopObserving(observer) }
      if ownsConnection { await bluez.disconnect(device) }
      await bluez.close()
      closed.finish(())
    }
  }

  /// Ends the connection, if this program has made it, and returns when it has ended: BlueZ takes two seconds.
  public func close() async {
    end(nil)
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends the connection with `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
