// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import CoreBluetooth

/// What Apple documents of the central role, one rule after another, with a radio that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct CentralTests {
  private static func battery(_ name: String = "Meter") -> ScriptedPeripheral {
    ScriptedPeripheral(
      name,
      [
        ScriptedService(
          "180f",
          [
            ScriptedCharacteristic(
              "2a19", [.read, .notify], value: [55],
              descriptors: ["2901": Array("Level".utf8), "2904": [4, 0], "2900": [1, 0]])
          ]),
        ScriptedService(
          "1234", included: ["180f"],
          [ScriptedCharacteristic("ab01", [.write, .read]), ScriptedCharacteristic("ab02", .indicate)]),
        ScriptedService("4321", isPrimary: false, []),
      ],
      onRead: { $0 == "ab01" ? .error(0x81) : nil },
      onWrite: { _, uuid, bytes in uuid == "ab01" && bytes.first == 9 ? .error(13) : nil })
  }

  // MARK: - 1 and 2: states

  @Test func theStateIsToldOnceAndAtEachChange() async throws {
    let radio = ScriptedRadio()
    let diary = Diary()
    let manager = try await diary.manager(radio)
    for state in [ScriptedRadio.State.on, .off, .off, .resetting, .unsupported, .unauthorized, .on] { radio.set(state) }
    try await diary.lines.wait { $0.count == 6 }
    await diary.settle(radio)
    #expect(
      diary.lines.value == [
        "state poweredOn", "state poweredOff", "state resetting", "state unsupported", "state unauthorized",
        "state poweredOn",
      ])
    #expect(manager.state == .poweredOn && CBManager.authorization == .allowedAlways)
    #expect(!CBCentralManager.supports(.extendedScanAndConnect))
  }

  @Test func aClientMaySearchAsSoonAsItIsToldTheState() async throws {
    final class Client: NSObject, CBCentralManagerDelegate, Sendable {
      let names = Watched<[String?]>([])
      func centralManagerDidUpdateState(_ central: CBCentralManager) { central.scanForPeripherals(withServices: nil) }
      func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
      ) { names.update { [name = peripheral.name] in $0.append(name) } }
    }
    let (client, queue) = (Client(), DispatchQueue(label: "client"))
    let radio = HastyRadio(radio: ScriptedRadio(.on, [.serialPort("one")]), queue: queue)
    let manager = Radios.$ofTask.withValue(radio) { CBCentralManager(delegate: client, queue: queue) }
    try await client.names.wait { $0 == ["one"] }
    withExtendedLifetime((manager, client)) {}
  }

  @Test func aManagerWithoutADelegateHasAState() async throws {
    let radio = ScriptedRadio(.off)
    let manager = radio.use { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "test")) }
    try await eventually("the state is known") { manager.state == .poweredOff }
  }

  /// The main queue, and not always the main thread: under `dispatchMain()` that doesn't run any more.
  @Test func withoutAQueueTheMainQueueIsUsed() async throws {
    final class Client: NSObject, CBCentralManagerDelegate, Sendable {
      static let key = DispatchSpecificKey<Bool>()
      let onMain = Watched<[Bool]>([])
      func centralManagerDidUpdateState(_ central: CBCentralManager) {
        dispatchPrecondition(condition: .onQueue(.main))
        let isMain = MainActor.assumeIsolated { DispatchQueue.getSpecific(key: Self.key) ?? false }
        onMain.update { $0.append(isMain) }
      }
    }
    DispatchQueue.main.setSpecific(key: Client.key, value: true)
    let (client, radio) = (Client(), ScriptedRadio())
    let manager = radio.use { CBCentralManager(delegate: client, queue: nil) }
    #expect(try await client.onMain.wait { !$0.isEmpty } == [true])
    _ = manager
  }

  /// Also where the queue would run several calls at the same time.
  @Test func callsComeOneAtATimeAndInOrder() async throws {
    let isInside = Locked(false)
    let overlaps = Locked(0)
    let diary = Diary { _, _ in
      if isInside.withLock({ inside in
        defer { inside = true }
        return inside
      }) {
        overlaps.withLock { $0 += 1 }
      }
      isInside.withLock { $0 = false }
    }
    let radio = ScriptedRadio(.on, [.serialPort()])
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let manager = try await diary.manager(radio, queue: queue)
    manager.scanForPeripherals(
      withServices: [CBUUID(string: "FFE0")], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    await radio.settle()
    for strength in 1...300 {
      let peripheral = ScriptedPeripheral("\(strength)", advertising: ["ffe0"], [])
      peripheral.setStrength(-strength)
      radio.add(peripheral)
    }
    let lines = try await diary.lines.wait { $0.count { $0.hasPrefix("found") } == 301 }
    #expect(lines.suffix(300) == (1...300).map { "found \($0) -\($0)" })
    #expect(overlaps.withLock { $0 } == 0)
  }

  @Test func aCallBeforePoweredOnIsLoggedAndDoesNothing() async throws {
    let radio = ScriptedRadio(.off, [.serialPort()])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil)
    manager.stopScan()
    #expect(!manager.isScanning && manager.retrievePeripherals(withIdentifiers: [UUID()]).isEmpty)
    #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFE0")]).isEmpty)
    await diary.settle(radio)
    #expect(radio.status.value.searches == 0 && diary.lines.value.count == 1)
    for call in ["scanForPeripherals", "stopScan", "retrievePeripherals", "retrieveConnectedPeripherals"] {
      #expect(Misuse.texts.contains { $0.hasPrefix(call) && $0.contains("poweredOn") })
    }
  }

  @Test func poweringOffEndsTheSearchAndTheConnections() async throws {
    let peripheral = Self.battery()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (manager, device, level) = try await diary.subscribed(radio)
    manager.scanForPeripherals(withServices: nil)
    #expect(manager.isScanning)
    radio.set(.off)
    try await diary.lines.wait { $0.last?.contains("poweredOff") == true }
    #expect(device.state == .disconnected && device.services == nil && !level.isNotifying && !manager.isScanning)
    // Attributes of then are stale.
    radio.set(.on)
    try await diary.lines.wait { $0.count { $0.contains("poweredOn") } == 2 }
    manager.connect(device)
    try await diary.lines.wait { $0.count { $0 == "connected" } == 2 }
    device.readValue(for: level)
    await diary.settle(radio)
    #expect(diary.lines.value.last == "connected")
    #expect(Misuse.texts.contains { $0.contains("earlier connection") })
  }

  // MARK: - 3: objects

  @Test func thereIsOneObjectForADevice() async throws {
    let peripheral = ScriptedPeripheral.serialPort("one", id: "fixed")
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    peripheral.advertise()
    try await diary.lines.wait { $0.count { $0.hasPrefix("found") } == 2 }
    let device = diary.found.withLock { $0[0] }
    #expect(diary.found.withLock { $0.count } == 1)
    #expect(manager.retrievePeripherals(withIdentifiers: [device.identifier, UUID()]) == [device])
    #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFE0")]).isEmpty)
    manager.connect(device)
    try await diary.wait("connected")
    #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFE0")]) == [device])
    #expect(manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")]).isEmpty)
    #expect([device: 1][device] == 1 && Set([device, device]).count == 1)
    // Another manager has another object, with the same identifier, which is made of the device alone.
    let other = Diary()
    let second = try await other.manager(radio)
    let same = second.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFE0")])
    #expect(same.first !== device && same.first?.identifier == device.identifier && same.first?.state == .disconnected)
    #expect(device.identifier.uuidString.dropFirst(14).first == "5")
    second.connect(device)
    #expect(Misuse.texts.contains { $0.contains("another manager's") })
  }

  @Test func aManagerKeepsOnlyConnectedDevices() async throws {
    let radio = ScriptedRadio(.on, [.serialPort()])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.count == 2 }
    weak var device = diary.found.withLock { $0[0] }
    diary.found.withLock { $0 = [] }
    await diary.settle(radio)
    #expect(device == nil)
    manager.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.count == 3 }
    device = diary.found.withLock { $0[0] }
    if let device { manager.connect(device) }
    try await diary.wait("connected")
    diary.found.withLock { $0 = [] }
    await diary.settle(radio)
    #expect(device?.state == .connected)
    if let device { manager.cancelPeripheralConnection(device) }
    try await diary.lines.wait { $0.last?.hasPrefix("disconnected") == true }
    await diary.settle(radio)
    #expect(device == nil)
  }

  // MARK: - 4: searching

  @Test func aDeviceIsFoundOnceInASearch() async throws {
    let peripheral = ScriptedPeripheral(nil, id: "quiet", advertising: ["ffe0"], [])
    let radio = ScriptedRadio(.on, [peripheral, Self.battery()])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: [CBUUID(string: "FFE0")])
    #expect(manager.isScanning)
    await radio.settle()
    peripheral.advertise()
    await radio.settle()
    // A scan response with the name is news; one with another name and other bytes isn't.
    peripheral.rename("late")
    peripheral.advertise()
    await radio.settle()
    peripheral.advertise([1, 2], ofManufacturer: 0x004C)
    peripheral.advertise([1, 3], ofManufacturer: 0x004C)
    await diary.settle(radio)
    #expect(diary.lines.value.dropFirst() == ["found nil -50", "found late -50", "found late -50"])
    // Another search tells it again, whatever it searches for.
    manager.scanForPeripherals(withServices: [])
    await diary.settle(radio)
    #expect(diary.lines.value.count == 6)
    manager.stopScan()
    #expect(!manager.isScanning)
    peripheral.advertise()
    await diary.settle(radio)
    #expect(diary.lines.value.count == 6 && radio.status.value.searches == 0)
  }

  @Test func duplicatesAreToldWhereTheyAreAskedFor() async throws {
    let peripheral = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(
      withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: true)])
    for _ in 0..<9 { peripheral.advertise() }
    await diary.settle(radio)
    #expect(diary.lines.value.dropFirst() == Array(repeating: "found HMSoft -50", count: 10)[...])
  }

  @Test func advertisementsHaveApplesKeys() throws {
    let data = RadioAdvertisementSample.whole.dictionary.value
    #expect(data[CBAdvertisementDataLocalNameKey] as? String == "HMSoft")
    #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "FFE0")])
    #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([0x4C, 0x00, 1, 2]))
    let service = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
    #expect(service?[CBUUID(string: "180F")] == Data([50]))
    #expect(data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber == -4)
    #expect((data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue == true && data.count == 6)
  }

  // MARK: - 5: connections

  @Test func connectWaitsUntilItIsCancelled() async throws {
    let peripheral = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.count == 2 }
    let device = diary.found.withLock { $0[0] }
    peripheral.vanish()
    manager.connect(device)
    manager.connect(device)
    #expect(device.state == .connecting)
    try await radio.status.wait { $0.awaited == ["HMSoft"] }
    diary.queue.suspend()
    manager.cancelPeripheralConnection(device)
    manager.cancelPeripheralConnection(device)
    #expect(device.state == .disconnecting)
    diary.queue.resume()
    try await diary.lines.wait { $0.count == 3 }
    #expect(diary.lines.value.last?.hasSuffix("nil") == true)
    manager.cancelPeripheralConnection(device)
    // And it is connected whenever it comes.
    manager.connect(device)
    peripheral.appear()
    try await diary.wait("connected")
    manager.connect(device)
    try await diary.lines.wait { $0.count { $0 == "connected" } == 2 }
    await diary.settle(radio)
    #expect(diary.lines.value.count { $0.hasPrefix("disconnected") } == 1 && device.state == .connected)
  }

  @Test func cancellingAndConnectingAgainAtOnce() async throws {
    let radio = ScriptedRadio(.on, [.serialPort()])
    let diary = Diary()
    let (manager, device) = try await diary.connected(radio)
    for _ in 0..<100 {
      manager.cancelPeripheralConnection(device)
      manager.connect(device)
    }
    try await diary.lines.wait { lines in
      lines.count { $0.hasPrefix("disconnected") } == 100 && lines.last == "connected"
    }
    await diary.settle(radio)
    #expect(device.state == .connected && radio.status.value.connected == ["HMSoft"])
  }

  @Test func aLossHasApplesErrors() async throws {
    let peripheral = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (manager, device) = try await diary.connected(radio)
    peripheral.disconnect()
    try await diary.lines.wait { $0.last?.hasSuffix("CBErrorDomain 7") == true }
    manager.connect(device)
    try await diary.lines.wait { $0.last == "connected" }
    peripheral.vanish()
    try await diary.lines.wait { $0.last?.hasSuffix("CBErrorDomain 6") == true }
    peripheral.appear()
    peripheral.refuseConnections()
    manager.connect(device)
    try await diary.lines.wait { $0.last == "failed CBErrorDomain 10" }
    #expect(device.state == .disconnected)
  }

  @Test func aLostConnectionIsMadeAgainWhereThatIsAskedFor() async throws {
    final class Client: NSObject, CBCentralManagerDelegate, Sendable {
      let reconnects = Watched<[Bool]>([])
      let connections = Watched(0)
      func centralManagerDidUpdateState(_ central: CBCentralManager) {}
      func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        connections.update { $0 += 1 }
      }
      func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: (any Error)?
      ) {
        let isFresh = abs(timestamp - Date().timeIntervalSinceReferenceDate) < 600
        reconnects.update { $0.append(isReconnecting && isFresh && error != nil) }
      }
    }
    let peripheral = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (manager, device) = try await diary.connected(radio)
    let client = Client()
    manager.delegate = client
    manager.connect(device, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
    try await client.connections.wait { $0 == 1 }
    peripheral.vanish()
    #expect(try await client.reconnects.wait { !$0.isEmpty } == [true])
    #expect(device.state == .connecting)
    peripheral.appear()
    try await client.connections.wait { $0 == 2 }
    manager.cancelPeripheralConnection(device)
    #expect(try await client.reconnects.wait { $0.count == 2 } == [true, false])
    #expect(device.state == .disconnected && manager.delegate === client)
  }

  // MARK: - 6: services

  @Test func servicesAreNilUntilTheyAreDiscovered() async throws {
    let radio = ScriptedRadio(.on, [Self.battery()])
    let diary = Diary()
    let (_, device) = try await diary.connected(radio)
    #expect(device.services == nil)
    device.discoverServices(nil)
    try await diary.wait("services")
    // Secondary services are only found as parts of others.
    #expect(device.services?.map(\.uuid.uuidString) == ["180F", "1234"])
    let service = try #require(device.services?.first)
    #expect(service.isPrimary && service.peripheral === device && service.characteristics == nil)
    device.discoverServices([CBUUID(string: "1234"), CBUUID(string: "FFFF")])
    try await diary.lines.wait { $0.count { $0 == "services" } == 2 }
    #expect(device.services?.map(\.uuid.uuidString) == ["1234"])
    device.discoverServices([])
    try await diary.lines.wait { $0.count { $0 == "services" } == 3 }
    // The objects are the same as before.
    #expect(device.services?.count == 2 && device.services?.first === service)

    let other = try #require(device.services?.last)
    device.discoverCharacteristics([CBUUID(string: "AB02")], for: other)
    try await diary.wait("characteristics 1234")
    #expect(other.characteristics?.map(\.uuid.uuidString) == ["AB02"])
    device.discoverCharacteristics(nil, for: other)
    try await diary.lines.wait { $0.count { $0 == "characteristics 1234" } == 2 }
    #expect(other.characteristics?.map(\.uuid.uuidString) == ["AB01", "AB02"])
    #expect(other.characteristics?.first?.properties == [.read, .write])
    #expect(other.characteristics?.first?.service === other)
    #expect(other.includedServices == nil)
    device.discoverIncludedServices(nil, for: other)
    try await diary.wait("included 1234")
    #expect(other.includedServices?.first === service)

    device.discoverCharacteristics(nil, for: service)
    try await diary.wait("characteristics 180F")
    let level = try #require(service.characteristics?.first)
    #expect(level.descriptors == nil && level.value == nil && !level.isNotifying)
    device.discoverDescriptors(for: level)
    try await diary.wait("descriptors 2A19")
    #expect(level.descriptors?.map(\.uuid.uuidString) == ["2902", "2901", "2904", "2900"])
    #expect(level.descriptors?.first?.characteristic === level)
  }

  @Test func aDeviceMayChangeItsServices() async throws {
    let peripheral = Self.battery()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let level = try #require(device.characteristic("2A19"))
    peripheral.change(to: [ScriptedService("ffe0", [ScriptedCharacteristic("ffe1", .notify)])])
    try await diary.lines.wait { $0.last == "modified [\"180F\", \"1234\"]" }
    #expect(device.services?.isEmpty == true)
    device.discoverDescriptors(for: level)
    try await diary.wait("descriptors 2A19 CBErrorDomain 2")
    device.discoverServices(nil)
    try await diary.lines.wait { $0.last == "services" }
    #expect(device.services?.map(\.uuid.uuidString) == ["FFE0"])
    peripheral.rename("Other")
    try await diary.wait("name Other")
    #expect(device.name == "Other")
  }

  // MARK: - 7: values

  @Test func readsAndNotificationsAreToldAlike() async throws {
    let peripheral = Self.battery()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let level = try #require(device.characteristic("2A19"))
    device.readValue(for: level)
    try await diary.wait("value 2A19 37")
    #expect(level.value == Data([55]))
    device.readValue(for: try #require(device.characteristic("AB01")))
    try await diary.wait("value AB01 nil CBATTErrorDomain 129")
    device.setNotifyValue(true, for: level)
    try await diary.wait("notifies 2A19 true")
    // Equal values are told as often as they are sent, each with the value that the client sees then.
    let sent = (0..<1_000).map { [UInt8(truncatingIfNeeded: $0 / 2), UInt8(truncatingIfNeeded: $0 >> 9)] }
    for bytes in sent { peripheral.send(bytes, from: "2a19") }
    let lines = try await diary.lines.wait { $0.count { $0.hasPrefix("value 2A19") } == 1_001 }
    let told = lines.filter { $0.hasPrefix("value 2A19") }.dropFirst()
    #expect(told == sent.map { "value 2A19 \(Hexadecimal.string($0))" }[...])
    device.setNotifyValue(false, for: level)
    try await diary.wait("notifies 2A19 false")
    peripheral.send([1], from: "2a19")
    await diary.settle(radio)
    #expect(diary.lines.value.last == "notifies 2A19 false")
  }

  @Test func descriptorsAreReadAndWritten() async throws {
    let radio = ScriptedRadio(.on, [Self.battery()])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let level = try #require(device.characteristic("2A19"))
    device.discoverDescriptors(for: level)
    try await diary.wait("descriptors 2A19")
    for descriptor in level.descriptors ?? [] { device.readValue(for: descriptor) }
    try await diary.lines.wait { $0.count { $0.hasPrefix("value 29") } == 4 }
    #expect(diary.lines.value.contains("value 2901 Level") && diary.lines.value.contains("value 2902 0"))
    let words = try #require(level.descriptors?[1])
    #expect(words.value as? String == "Level")
    device.writeValue(Data("x".utf8), for: words)
    try await diary.wait("wrote 2901")
    device.writeValue(Data([1, 0]), for: try #require(level.descriptors?[0]))
    try await diary.wait("wrote 2902 CBErrorDomain 8")
    device.writeValue(Data(count: 513), for: words)
    try await diary.wait("wrote 2901 CBATTErrorDomain 13")
  }

  @Test func theStrengthAndWhatThereIsNot() async throws {
    let radio = ScriptedRadio(.on, [Self.battery()])
    let diary = Diary()
    let (manager, device) = try await diary.connected(radio)
    device.readRSSI()
    try await diary.wait("strength -50")
    device.openL2CAPChannel(0x80)
    try await diary.wait("channel CBErrorDomain 13")
    #expect(!device.ancsAuthorized && device.canSendWriteWithoutResponse)
    manager.registerForConnectionEvents(options: [.serviceUUIDs: []])
  }

  /// Values wait at the radio, not in memory, while the client's queue takes none; and none is lost.
  @Test func aSlowClientHoldsTheDeviceBack() async throws {
    let peripheral = Self.battery()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    _ = try await diary.subscribed(radio)
    diary.queue.suspend()
    func send(_ numbers: Range<Int>) {
      for number in numbers { peripheral.send([UInt8(number & 0xFF), UInt8(number >> 8)], from: "2a19") }
    }
    // A few pass until the radio has heard of it.
    send(0..<2_000)
    await radio.settle()
    await radio.settle()
    send(2_000..<5_000)
    await radio.settle()
    await radio.settle()
    #expect(radio.status.value.heldValues >= 3_000)
    diary.queue.resume()
    let lines = try await diary.lines.wait { $0.count { $0.hasPrefix("value 2A19") } == 5_000 }
    let sent = (0..<5_000).map { "value 2A19 \(Hexadecimal.string([UInt8($0 & 0xFF), UInt8($0 >> 8)]))" }
    #expect(lines.filter { $0.hasPrefix("value") } == sent)
    await diary.settle(radio)
    #expect(radio.status.value.heldValues == 0)
  }

  // MARK: - 8: writes

  @Test func writesWithAResponse() async throws {
    let radio = ScriptedRadio(.on, [Self.battery()])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let port = try #require(device.characteristic("AB01"))
    #expect(device.maximumWriteValueLength(for: .withResponse) == 512)
    device.writeValue(Data(count: 512), for: port, type: .withResponse)
    try await diary.wait("wrote AB01")
    device.writeValue(Data(count: 513), for: port, type: .withResponse)
    try await diary.wait("wrote AB01 CBATTErrorDomain 13")
    device.writeValue(Data([9]), for: port, type: .withResponse)
    try await diary.lines.wait { $0.count { $0 == "wrote AB01 CBATTErrorDomain 13" } == 2 }
    device.writeValue(Data([1]), for: try #require(device.characteristic("2A19")), type: .withResponse)
    try await diary.wait("wrote 2A19 CBATTErrorDomain 3")
  }

  /// The largest packet would carry 514 bytes; no value of GATT has more than 512.
  @Test func noWriteIsLongerThanAValueMayBe() async throws {
    let port = ScriptedService("ffe0", [ScriptedCharacteristic("ffe1", [.writeWithoutResponse])])
    let radio = ScriptedRadio(.on, [ScriptedPeripheral("Wide", packetSize: 517, [port])])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    #expect(device.maximumWriteValueLength(for: .withoutResponse) == 512)
  }

  @Test func writesWithoutAResponse() async throws {
    let written = Watched<[[UInt8]]>([])
    let peripheral = ScriptedPeripheral.serialPort { bytes in
      written.update { $0.append(bytes) }
      return nil
    }
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let port = try #require(device.characteristic("FFE1"))
    #expect(device.canSendWriteWithoutResponse && device.maximumWriteValueLength(for: .withoutResponse) == 20)
    // Longer than a packet: dropped, and logged.
    device.writeValue(Data(count: 21), for: port, type: .withoutResponse)
    #expect(Misuse.texts.contains { $0.contains("21 bytes are dropped") })
    peripheral.pause()
    var count = 0
    while device.canSendWriteWithoutResponse {
      device.writeValue(Data([UInt8(count)]), for: port, type: .withoutResponse)
      count += 1
    }
    #expect(count == 64)
    peripheral.resume()
    try await diary.wait("ready")
    try await written.wait { $0.count == 64 }
    await diary.settle(radio)
    #expect(written.value == (0..<64).map { [UInt8($0)] } && device.canSendWriteWithoutResponse)
    #expect(diary.lines.value.count { $0 == "ready" } == 1 && !diary.lines.value.contains { $0.hasPrefix("wrote") })
  }

  @Test func aThousandWritesAndNotificationsInOrder() async throws {
    let peripheral = ScriptedPeripheral.serialPort { $0 }
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let port = try #require(device.characteristic("FFE1"))
    device.setNotifyValue(true, for: port)
    try await diary.wait("notifies FFE1 true")
    let sent = (0..<1_000).map { Data([UInt8($0 & 0xFF), UInt8($0 >> 8)]) }
    for data in sent { device.writeValue(data, for: port, type: .withoutResponse) }
    let lines = try await diary.lines.wait { $0.count { $0.hasPrefix("value") } == 1_000 }
    #expect(lines.filter { $0.hasPrefix("value") } == sent.map { "value FFE1 \(Hexadecimal.string(Array($0)))" })
  }

  // MARK: - 9 and 10

  @Test func aCharacteristicThatSendsNothing() async throws {
    let radio = ScriptedRadio(.on, [Self.battery()])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    device.setNotifyValue(true, for: try #require(device.characteristic("AB01")))
    try await diary.wait("notifies AB01 false CBATTErrorDomain 6")
    device.setNotifyValue(true, for: try #require(device.characteristic("AB02")))
    try await diary.wait("notifies AB02 true")
  }

  @Test func afterADisconnectionServicesAreGone() async throws {
    let peripheral = Self.battery()
    let radio = ScriptedRadio(.on, [peripheral])
    let diary = Diary()
    let (manager, device, level) = try await diary.subscribed(radio)
    peripheral.disconnect()
    let lines = try await diary.lines.wait { $0.last?.hasPrefix("disconnected") == true }
    #expect(lines.last?.contains(" nil CBErrorDomain 7") == true)
    #expect(device.services == nil && !level.isNotifying && !device.canSendWriteWithoutResponse)
    // Whatever is asked now is logged, and nothing happens.
    device.readRSSI()
    device.discoverServices(nil)
    device.readValue(for: level)
    device.writeValue(Data(), for: level, type: .withResponse)
    device.writeValue(Data(), for: level, type: .withoutResponse)
    device.setNotifyValue(true, for: level)
    device.discoverDescriptors(for: level)
    await diary.settle(radio)
    #expect(diary.lines.value == lines && Misuse.texts.contains { $0.contains("isn't connected") })
    manager.connect(device)
    try await diary.lines.wait { $0.last == "connected" }
    device.discoverServices(nil)
    try await diary.lines.wait { $0.last == "services" }
    #expect(device.services?.first?.characteristics == nil)
    peripheral.send([1], from: "2a19")
    await diary.settle(radio)
    #expect(diary.lines.value.last == "services")
  }
}
