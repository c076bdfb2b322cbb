// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import CommandOutput

/// A scan with this computer's own Bluetooth adapter.
struct AirScan {
  let kind: BluetoothKind
  let adapter: BluetoothAdapterName?
  let time: Duration
  let isJSON: Bool

  func run() async throws {
    let bluez = try await BlueZ.open()
    let list = NeighbourList(isLive: !isJSON && Style.standardOutput.isTerminal)
    let told = Locked<Set<BluetoothAddress>>([])
    let found = try await attempt { () async throws(AccessoryError) in
      try await WaitingLine.during("scanning", limit: time) { () async throws(AccessoryError) in
        try await bluez.search(kind, by: adapter, for: time) { devices in
          isJSON ? Self.tell(devices, told) : list.draw(devices.compactMap { NeighbourRow($0) })
        }
      }
    } finally: {
      await bluez.close()
    }
    if isJSON {
      Self.tell(found, told)
      Output.json(AirScanDocument(kind: Self.name(kind), neighbours: found.compactMap { .init($0) }))
    } else {
      list.finish(found.compactMap { NeighbourRow($0) })
    }
    try AccessoryWait.checkInterruption()
  }

  /// Prints each device when it is found.
  private static func tell(_ devices: [BluetoothDevice], _ told: borrowing Locked<Set<BluetoothAddress>>) {
    for device in devices {
      guard let document = AirNeighbourDocument(device), let address = device.address,
        told.withLock({ $0.insert(address).inserted })
      else { continue }
      Output.json(AirFoundDocument(neighbour: document))
    }
  }

  /// The kind's name in JSON, as in addresses.
  private static func name(_ kind: BluetoothKind) -> TransportKind { kind == .lowEnergy ? .ble : .rfcomm }
}

extension NeighbourRow {
  /// A device that was found; nil when it has no address.
  init?(_ device: BluetoothDevice) {
    guard let address = device.address else { return nil }
    var about = device.services.sorted().prefix(4).map(\.description)
    if device.services.count > 4 { about.append("…") }
    about += device.manufacturerData.keys.sorted().prefix(2).map { "by 0x" + Hexadecimal.string($0) }
    if device.isConnected { about.append("connected") }
    if device.services.contains(where: GATTSerialPort.isKnown) { about.insert("serial port", at: 0) }
    self.init(
      address: address, signalStrength: device.signalStrength, name: device.name, about: about.joined(separator: ", "))
  }
}

/// A device that this computer's own adapter has found, in JSON.
struct AirNeighbourDocument: Encodable {
  /// The device's address, as commands accept it for DEVICE.
  let address: String
  let name: String?
  let rssi_dbm: Int?
  let services: [String]
  let manufacturers: [Int]
  let connected, paired, serial_port: Bool

  init?(_ device: BluetoothDevice) {
    guard let place = device.address else { return nil }
    address =
      (device.deviceClass == nil ? DeviceAddress.ble(place) : .rfcomm(place, channel: nil)).description
    name = device.name
    rssi_dbm = device.signalStrength
    services = device.services.sorted().map(\.text)
    manufacturers = device.manufacturerData.keys.sorted().map { Int($0) }
    (connected, paired) = (device.isConnected, device.isPaired)
    serial_port = device.services.contains(where: GATTSerialPort.isKnown)
  }
}

struct AirFoundDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.bluetoothFound
  let event = "found"
  let time = WallClock.seconds
  let neighbour: AirNeighbourDocument
}

struct AirScanDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.bluetoothScan
  let event = "ended"
  let time = WallClock.seconds
  let kind: String
  let neighbours: [AirNeighbourDocument]

  init(kind: TransportKind, neighbours: [AirNeighbourDocument]) {
    (self.kind, self.neighbours) = (kind.rawValue, neighbours)
  }
}
