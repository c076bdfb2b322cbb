// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import CoreBluetooth

/// What a peripheral of a test can be, as a program sees it.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct ScriptedPeripheralTests {
  /// Keeps what was advertised last.
  private final class Listener: NSObject, CBCentralManagerDelegate, Sendable {
    struct Heard: @unchecked Sendable {
      var data: [String: Any] = [:]
      var count = 0
    }
    let heard = Watched(Heard())

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
      if central.state == .poweredOn {
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
      }
    }

    func centralManager(
      _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
      rssi RSSI: NSNumber
    ) {
      let data = Heard(data: advertisementData)
      heard.update { $0 = Heard(data: data.data, count: $0.count + 1) }
    }
  }

  @Test func itAdvertisesDataOfServicesAndMore() async throws {
    let thermometer = ScriptedPeripheral("Thermometer", advertising: ["0x181A"], [])
    let radio = ScriptedRadio(.on, [thermometer])
    let listener = Listener()
    let manager = radio.use { CBCentralManager(delegate: listener, queue: DispatchQueue(label: "test")) }
    try await listener.heard.wait { $0.count == 1 }
    thermometer.advertise([1, 2], ofService: "181A")
    thermometer.advertise([3], ofService: "6E400001B5A3F393E0A9E50E24DCCA9E")
    thermometer.advertise([4, 5], ofManufacturer: 0x004C)
    thermometer.advertise(power: -8)
    thermometer.advertise(isConnectable: false)
    let data = try await listener.heard.wait { $0.count == 6 }.data
    let services = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
    #expect(
      services == [
        CBUUID(string: "181A"): Data([1, 2]), CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E"): Data([3]),
      ])
    #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0, 4, 5]))
    #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -8)
    #expect(data[CBAdvertisementDataIsConnectable] as? NSNumber == 0)
    #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "181A")])
    manager.stopScan()
  }

  @Test(arguments: [
    "6e400001b5a3f393e0a9e50e24dcca9e", "6E400001-B5A3-F393-E0A9-E50E24DCCA9E",
    "0x6E400001B5A3F393E0A9E50E24DCCA9E",
  ]) func aUUIDOf32DigitsNeedsNoHyphens(text: String) async throws {
    let peripheral = ScriptedPeripheral(
      "Nordic", [ScriptedService(text, [ScriptedCharacteristic(text, .read, value: [7], descriptors: [text: [1]])])])
    let diary = Diary()
    let (_, device) = try await diary.discovered(ScriptedRadio(.on, [peripheral]))
    #expect(device.services?.map(\.uuid.uuidString) == ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])
    let characteristic = try #require(device.characteristic("6E400001-B5A3-F393-E0A9-E50E24DCCA9E"))
    device.readValue(for: characteristic)
    try await diary.wait("value 6E400001-B5A3-F393-E0A9-E50E24DCCA9E 07")
  }

  /// As a beacon: it is waited for.
  @Test func oneThatCantBeConnectedIsWaitedFor() async throws {
    let beacon = ScriptedPeripheral("Beacon", advertising: ["180f"], [])
    beacon.advertise(isConnectable: false)
    let radio = ScriptedRadio(.on, [beacon])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.contains { $0.hasPrefix("found") } }
    let device = diary.found.withLock { $0[0] }
    manager.connect(device)
    try await radio.status.wait { $0.awaited == ["Beacon"] }
    #expect(device.state == .connecting)
    beacon.advertise(isConnectable: true)
    beacon.appear()
    try await diary.wait("connected")
  }
}
