// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import CoreBluetooth

/// Clients that do what they shouldn't.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct CarelessClientTests {
  @Test func tenThousandWritesThatNobodyWaitsFor() async throws {
    let count = Watched(0)
    let module = ScriptedPeripheral.serialPort { _ in
      count.update { $0 += 1 }
      return nil
    }
    let radio = ScriptedRadio(.on, [module])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let port = try #require(device.characteristic("FFE1"))
    module.pause()
    for _ in 0..<10_000 { device.writeValue(Data([1]), for: port, type: .withoutResponse) }
    #expect(!device.canSendWriteWithoutResponse)
    module.resume()
    try await diary.wait("ready")
    await diary.settle(radio)
    // The queue is bounded: the others are dropped, and the log says so.
    #expect(count.value == CBPeripheral.commands.most && device.canSendWriteWithoutResponse)
    #expect(Misuse.texts.contains { $0.contains("canSendWriteWithoutResponse") })
    for _ in 0..<10_000 { device.readValue(for: port) }
    await diary.settle(radio)
    #expect(diary.lines.value.count { $0.hasPrefix("value") } == 10_000)
  }

  /// Each call has its answer, also beyond the queue's end.
  @Test func aRequestBeyondTheQueueGetsAnError() async throws {
    let characteristic = ScriptedCharacteristic(
      "2a19", [.read, .write, .notify], value: [87], descriptors: ["2901": Array("Charge".utf8)])
    let meter = ScriptedPeripheral("Meter", [ScriptedService("180f", [characteristic])])
    let radio = ScriptedRadio(.on, [meter])
    let diary = Diary()
    let (_, device) = try await diary.discovered(radio)
    let level = try #require(device.characteristic("2A19"))
    device.discoverDescriptors(for: level)
    try await diary.wait("descriptors 2A19")
    let text = try #require(level.descriptors?.last)
    meter.pause()
    for _ in 0..<CBPeripheral.requestLimit { device.readValue(for: level) }
    let count = diary.lines.value.count
    device.readValue(for: level)
    device.readValue(for: text)
    device.writeValue(Data([1]), for: level, type: .withResponse)
    device.writeValue(Data([1]), for: text)
    device.setNotifyValue(true, for: level)
    device.readRSSI()
    device.discoverServices(nil)
    await diary.settle(radio)
    #expect(
      diary.lines.value.dropFirst(count).elementsEqual(
        [
          "value 2A19 nil", "value 2901 nil", "wrote 2A19", "wrote 2901", "notifies 2A19 false", "strength 127",
          "services",
        ]
        .map { $0 + " CBErrorDomain \(CBError.Code.outOfSpace.rawValue)" }))
    meter.resume()
    try await diary.lines.wait { $0.count { $0 == "value 2A19 57" } == CBPeripheral.requestLimit }
    device.readRSSI()
    try await diary.wait("strength -50")
    #expect(diary.lines.value.count { $0 == "value 2A19 57" } == CBPeripheral.requestLimit)
    device.discoverServices(nil)
    await diary.settle(radio)
    #expect(diary.lines.value.last == "services" && device.services?.count == 1)
  }

  @Test func everythingIsDroppedAtOnce() async throws {
    let module = ScriptedPeripheral.serialPort { $0 }
    let radio = ScriptedRadio(.on, [module])
    weak var weakManager: CBCentralManager?
    weak var weakDevice: CBPeripheral?
    weak var weakPort: CBCharacteristic?
    for _ in 0..<50 {
      let diary = Diary()
      let (manager, device) = try await diary.discovered(radio)
      let port = try #require(device.characteristic("FFE1"))
      (weakManager, weakDevice, weakPort) = (manager, device, port)
      device.setNotifyValue(true, for: port)
      for _ in 0..<50 { device.writeValue(Data([1]), for: port, type: .withoutResponse) }
      device.readValue(for: port)
      device.readRSSI()
      device.discoverServices(nil)
      manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
      module.advertise()
      diary.managers.withLock { $0 = [] }
    }
    try await radio.status.wait { $0.managers == 0 && $0.connected.isEmpty && $0.searches == 0 }
    try await eventually("all objects are gone") { weakManager == nil && weakDevice == nil && weakPort == nil }
  }

  @Test func tenThreadsCallWhateverTheyLike() async throws {
    let module = ScriptedPeripheral.serialPort { $0 }
    let radio = ScriptedRadio(.on, [module])
    let diary = Diary()
    let (manager, device) = try await diary.discovered(radio)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<10 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(thread))
          for _ in 0..<300 {
            let service = device.services?.first
            let port = service?.characteristics?.first
            switch Int.random(in: 0..<16, using: &generator) {
            case 0: manager.connect(device)
            case 1: manager.cancelPeripheralConnection(device)
            case 2: manager.scanForPeripherals(withServices: nil)
            case 3: manager.stopScan()
            case 4: device.discoverServices(nil)
            case 5: if let service { device.discoverCharacteristics(nil, for: service) }
            case 6: if let port { device.discoverDescriptors(for: port) }
            case 7: if let port { device.readValue(for: port) }
            case 8: if let port { device.writeValue(Data([1]), for: port, type: .withoutResponse) }
            case 9: if let port { device.setNotifyValue(Bool.random(using: &generator), for: port) }
            case 10: module.disconnect()
            case 11: device.delegate = Bool.random(using: &generator) ? diary : nil
            case 12: manager.delegate = Bool.random(using: &generator) ? diary : nil
            case 13: radio.set(Bool.random(using: &generator) ? .on : .off)
            case 14: _ = (manager.retrievePeripherals(withIdentifiers: [device.identifier]), device.name, port?.value)
            default: module.advertise()
            }
          }
        }
      }
    }
    // It still works afterwards.
    (manager.delegate, device.delegate) = (diary, diary)
    radio.set(.on)
    await diary.settle(radio)
    diary.lines.update { $0 = [] }
    manager.cancelPeripheralConnection(device)
    await diary.settle(radio)
    #expect(device.state == .disconnected)
    manager.connect(device)
    try await diary.wait("connected")
    await diary.settle(radio)
    #expect(device.state == .connected && radio.status.value.connected == ["HMSoft"])
  }

  /// An attempt ends with the last reference to its device.
  @Test func aDeviceThatIsLetGoWhileItConnects() async throws {
    let module = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [module])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.count == 2 }
    module.vanish()
    diary.found.withLock { found in
      manager.connect(found[0])
      found = []
    }
    try await radio.status.wait { $0.awaited == ["HMSoft"] || $0.awaited.isEmpty }
    await diary.settle(radio)
    #expect(radio.status.value.awaited.isEmpty && Misuse.texts.contains { $0.contains("let go") })
  }

  /// A delegate that cancels, connects and lets its manager go while it is told.
  @Test func aDelegateThatLetsItsManagerGo() async throws {
    let radio = ScriptedRadio(.on, [.serialPort()])
    let diary = Diary { diary, line in
      if line == "connected" { diary.managers.withLock { $0 = [] } }
    }
    let manager = Locked<CBCentralManager?>(try await diary.manager(radio))
    let other = try #require(manager.withLock { $0 })
    other.scanForPeripherals(withServices: nil)
    try await diary.lines.wait { $0.count == 2 }
    other.connect(diary.found.withLock { $0[0] })
    manager.withLock { $0 = nil }
    try await diary.wait("connected")
  }

  /// Advertisements that nobody takes are dropped, not kept.
  @Test func aClientThatDoesntTakeAdvertisements() async throws {
    let module = ScriptedPeripheral.serialPort()
    let radio = ScriptedRadio(.on, [module])
    let diary = Diary()
    let manager = try await diary.manager(radio)
    manager.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    try await diary.lines.wait { $0.count == 2 }
    diary.queue.suspend()
    for _ in 0..<5_000 { module.advertise() }
    await radio.settle()
    diary.queue.resume()
    await diary.settle(radio)
    #expect(diary.lines.value.count <= 2 + 512 + 1)
    module.advertise()
    await diary.settle(radio)
    #expect(diary.lines.value.last == "found HMSoft -50")
  }

  /// The client may do what it likes: afterwards nothing spins or polls. At most 1 tick of the processor, of which there are 100 a
  /// second, in two seconds. The programs run side by side, as they do nothing.
  @Test func nothingGoesOnAfterwards() async throws {
    let tests = linkTarget("/proc/self/exe") ?? ""
    let folder = "/" + tests.split(separator: "/").dropLast().joined(separator: "/")
    let ways = [
      "dropped", "droppedAgainAndAgain", "cancelledInDeinit", "writes", "threads", "switchedOff", "connected",
      "waiting",
    ]
    let programs = try ways.map {
      ($0, try Program([folder + "/CarelessBluetooth", $0], environment: [:], directory: "/"))
    }
    for (way, program) in programs {
      let transcript = try await program.end()
      let ticks = transcript.lines.first?.split(separator: " ").first.flatMap { Int($0) }
      #expect(
        transcript.status == 0 && ticks ?? .max <= 1, "\(way): \(transcript.outputText)\(transcript.errorText)")
    }
  }
}
