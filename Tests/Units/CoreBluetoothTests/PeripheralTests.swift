// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import CoreBluetooth

/// What Apple documents of the peripheral role, with a radio and centrals that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct PeripheralTests {
  private static func characteristic(
    _ uuid: String, _ properties: CBCharacteristicProperties, value: [UInt8]? = nil,
    _ permissions: CBAttributePermissions = [.readable, .writeable]
  ) -> CBMutableCharacteristic {
    CBMutableCharacteristic(
      type: CBUUID(string: uuid), properties: properties, value: value.map { Data($0) }, permissions: permissions)
  }

  // MARK: - States

  @Test func theStateIsToldOnceAndAtEachChange() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let manager = try await diary.manager(radio)
    for state in [ScriptedRadio.State.on, .off, .off, .resetting, .unsupported, .unauthorized, .on] { radio.set(state) }
    try await diary.lines.wait { $0.count == 6 }
    await diary.settle(radio)
    #expect(
      diary.lines.value == [
        "state poweredOn", "state poweredOff", "state resetting", "state unsupported", "state unauthorized",
        "state poweredOn",
      ])
    #expect(manager.state == .poweredOn)
  }

  @Test func aClientMayOfferAsSoonAsItIsToldTheState() async throws {
    final class Client: NSObject, CBPeripheralManagerDelegate, Sendable {
      func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        peripheral.startAdvertising([CBAdvertisementDataLocalNameKey: "Robot"])
      }
    }
    let (client, queue, scripted) = (Client(), DispatchQueue(label: "client"), ScriptedRadio())
    let radio = HastyRadio(radio: scripted, queue: queue)
    let manager = Radios.$ofTask.withValue(radio) { CBPeripheralManager(delegate: client, queue: queue) }
    try await scripted.status.wait { $0.names == ["Robot"] }
    withExtendedLifetime((manager, client)) {}
  }

  @Test func nothingHappensBeforeItIsOn() async throws {
    let (radio, diary) = (ScriptedRadio(.off), PeripheralDiary())
    let manager = try await diary.manager(radio)
    let characteristic = Self.characteristic("FFE1", .notify)
    manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Robot"])
    manager.add(CBMutableService(type: CBUUID(string: "FFE0"), primary: true))
    #expect(!manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
    await diary.settle(radio)
    #expect(diary.lines.value == ["state poweredOff"] && radio.status.value.services.isEmpty)
    for call in ["startAdvertising(_:)", "add(_:)", "updateValue(_:for:onSubscribedCentrals:)"] {
      #expect(Misuse.texts.contains("CBPeripheralManager.\(call) before the state is poweredOn: it is poweredOff"))
    }
  }

  /// Below "off" the services are gone; at "off" only the advertisement is.
  @Test func whatIsLeftAfterTheRadioWasOff() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let (manager, service) = try await diary.serving(radio, [Self.characteristic("FFE1", .read)])
    manager.startAdvertising([CBAdvertisementDataLocalNameKey: "Robot"])
    try await diary.wait("advertising true")
    radio.set(.off)
    try await diary.wait("state poweredOff")
    await diary.settle(radio)
    #expect(!manager.isAdvertising && radio.status.value.names.isEmpty)
    #expect(radio.status.value.services == ["ffe0"])
    radio.set(.resetting)
    try await diary.wait("state resetting")
    await diary.settle(radio)
    #expect(radio.status.value.services.isEmpty)
    radio.set(.on)
    try await diary.lines.wait { $0.last == "state poweredOn" }
    manager.add(service)
    try await diary.lines.wait { $0.count { $0 == "added FFE0" } == 2 }
  }

  // MARK: - Offering

  @Test func theNameAndTheServicesAreAdvertised() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let manager = try await diary.manager(radio)
    manager.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Robot", CBAdvertisementDataServiceUUIDsKey: [CBUUID(string: "FFE0")],
    ])
    try await diary.wait("advertising true")
    #expect(radio.status.value.names == ["Robot"])
    manager.startAdvertising(nil)
    try await diary.wait("advertising true CBErrorDomain 9")
    manager.stopAdvertising()
    await diary.settle(radio)
    #expect(!manager.isAdvertising && radio.status.value.names.isEmpty)
    manager.startAdvertising(nil)
    try await diary.lines.wait { $0.count { $0 == "advertising true" } == 2 }
    #expect(radio.status.value.names == [""])
  }

  @Test func aServiceIsThereUntilItIsRemoved() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", [.read, .notify])
    let (manager, service) = try await diary.serving(radio, [level])
    let central = ScriptedCentral(radio)
    try await central.subscribe(to: "2a19")
    try await diary.wait("subscribed 2A19 20 1")
    // Once more is a misuse.
    manager.add(service)
    manager.remove(service)
    await diary.settle(radio)
    #expect(radio.status.value.services.isEmpty && level.subscribedCentrals == [])
    #expect(!manager.updateValue(Data([1]), for: level, onSubscribedCentrals: nil))
    await #expect(throws: ScriptedCentral.Failure.notFound) { try await central.read("2a19") }
    manager.add(service)
    try await diary.lines.wait { $0.count { $0 == "added FFE0" } == 2 }
    manager.removeAllServices()
    await diary.settle(radio)
    #expect(radio.status.value.services.isEmpty)
  }

  @Test func aServiceThatCannotBeThereIsAnError() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let manager = try await diary.manager(radio)
    let gap = CBMutableService(type: CBUUID(string: "1800"), primary: true)
    let including = CBMutableService(type: CBUUID(string: "FFE1"), primary: true)
    including.includedServices = [gap]
    let constant = CBMutableService(type: CBUUID(string: "FFE2"), primary: true)
    constant.characteristics = [Self.characteristic("FFE3", [.read, .write], value: [1], .readable)]
    for service in [gap, including, constant] { manager.add(service) }
    try await diary.lines.wait { $0.count == 4 }
    #expect(
      diary.lines.value[1...] == [
        "added 1800 CBErrorDomain 8", "added FFE1 CBErrorDomain 13", "added FFE2 CBErrorDomain 1",
      ])
    manager.publishL2CAPChannel(withEncryption: false)
    try await diary.wait("channel 0 CBErrorDomain 13")
  }

  // MARK: - Requests

  @Test func readsAreAnsweredFromTheOffsetOn() async throws {
    let diary = PeripheralDiary { manager, request in
      let value = Data([1, 2, 3, 4])
      guard request.offset <= value.count else { return manager.respond(to: request, withResult: .invalidOffset) }
      request.value = value.subdata(in: request.offset..<value.count)
      manager.respond(to: request, withResult: .success)
      // Only the first answer counts.
      manager.respond(to: request, withResult: .unlikelyError)
    }
    let radio = ScriptedRadio()
    _ = try await diary.serving(radio, [Self.characteristic("FFE1", .read)])
    let central = ScriptedCentral(radio)
    #expect(try await central.read("ffe1") == [1, 2, 3, 4])
    #expect(try await central.read("ffe1", offset: 3) == [4])
    await #expect(throws: ScriptedCentral.Failure.refused(7)) { try await central.read("ffe1", offset: 5) }
    await diary.settle(radio)
    #expect(Misuse.texts.contains { $0.hasPrefix("respond(to:withResult:): the request isn't open") })
    let requests = diary.requests.withLock { $0 }
    #expect(requests.count == 3 && requests.allSatisfy { $0.central === requests[0].central })
  }

  @Test func aConstantValueIsReadWithoutTheClient() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let text = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Level")
    let characteristic = Self.characteristic("FFE1", .read, value: [7, 8], .readable)
    characteristic.descriptors = [text]
    _ = try await diary.serving(radio, [characteristic])
    #expect(try await ScriptedCentral(radio).read("ffe1", offset: 1) == [8])
    #expect(diary.lines.value == ["state poweredOn", "added FFE0"] && text.bytes == Array("Level".utf8))
  }

  @Test func writesComeInOrderAndAreAnswered() async throws {
    let diary = PeripheralDiary { manager, request in
      manager.respond(to: request, withResult: request.value == Data([9]) ? .invalidAttributeValueLength : .success)
    }
    let radio = ScriptedRadio()
    _ = try await diary.serving(radio, [Self.characteristic("FFE1", [.write, .writeWithoutResponse])])
    let central = ScriptedCentral(radio)
    for byte in UInt8(0)..<9 {
      if byte.isMultiple(of: 2) {
        try await central.write([byte], to: "ffe1")
      } else {
        try await central.send([byte], to: "ffe1")
      }
    }
    await #expect(throws: ScriptedCentral.Failure.refused(13)) { try await central.write([9], to: "ffe1") }
    #expect(diary.lines.value[2...] == (0..<10).map { "write FFE1 0\($0)" }[...])
  }

  @Test func whatIsNotPermittedIsRefusedWithoutTheClient() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    _ = try await diary.serving(radio, [Self.characteristic("FFE1", [.read, .write], [])])
    let central = ScriptedCentral(radio)
    await #expect(throws: ScriptedCentral.Failure.refused(2)) { try await central.read("ffe1") }
    await #expect(throws: ScriptedCentral.Failure.refused(3)) { try await central.write([1], to: "ffe1") }
    #expect(diary.lines.value.count == 2)
  }

  @Test func aDelegateThatAnswersNothingRefuses() async throws {
    final class Quiet: NSObject, CBPeripheralManagerDelegate, Sendable {
      func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
        service.characteristics = [PeripheralTests.characteristic("FFE1", [.read, .write])]
        peripheral.add(service)
      }
    }
    let (radio, quiet) = (ScriptedRadio(), Quiet())
    let manager = radio.use { CBPeripheralManager(delegate: quiet, queue: DispatchQueue(label: "quiet")) }
    try await radio.status.wait { $0.services == ["ffe0"] }
    let central = ScriptedCentral(radio)
    await #expect(throws: ScriptedCentral.Failure.refused(6)) { try await central.read("ffe1") }
    await #expect(throws: ScriptedCentral.Failure.refused(6)) { try await central.write([1], to: "ffe1") }
    _ = manager
  }

  /// A client that never answers keeps nobody waiting after the central has gone.
  @Test func aCentralThatLeavesTakesItsRequestsWithIt() async throws {
    let diary = PeripheralDiary { _, _ in }
    let radio = ScriptedRadio()
    let (manager, _) = try await diary.serving(radio, [Self.characteristic("FFE1", .read)])
    let central = ScriptedCentral(radio)
    let reading = Task { try await central.read("ffe1") }
    try await diary.wait("read FFE1 0")
    central.leave()
    await #expect(throws: ScriptedCentral.Failure.disconnected) { try await reading.value }
    await diary.settle(radio)
    manager.respond(to: diary.requests.withLock { $0[0] }, withResult: .success)
  }

  // MARK: - Values

  @Test func valuesGoToThoseWhoHaveSubscribed() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", .notify)
    let (manager, _) = try await diary.serving(radio, [level])
    // Nobody wants it: it counts as sent.
    #expect(manager.updateValue(Data([0]), for: level, onSubscribedCentrals: nil))
    let (first, second) = (ScriptedCentral(radio, id: "first"), ScriptedCentral(radio, id: "second", packetSize: 103))
    try await first.subscribe(to: "2a19")
    try await second.subscribe(to: "2a19")
    try await diary.wait("subscribed 2A19 100 2")
    #expect(level.subscribedCentrals?.map(\.maximumUpdateValueLength) == [20, 100])
    #expect(manager.updateValue(Data([1]), for: level, onSubscribedCentrals: nil))
    // A longer value is cut for each.
    #expect(manager.updateValue(Data(repeating: 2, count: 150), for: level, onSubscribedCentrals: nil))
    for central in [first, second] { try await central.values.wait { $0.count == 2 } }
    #expect(first.values.value.map(\.bytes.count) == [1, 20] && second.values.value.map(\.bytes.count) == [1, 100])
    try await first.subscribe(to: "2a19", false)
    try await diary.wait("unsubscribed 2A19 1")
    second.leave()
    try await diary.wait("unsubscribed 2A19 0")
    // It comes back as another object with the same number.
    try await second.subscribe(to: "2a19")
    try await diary.lines.wait { $0.last == "subscribed 2A19 100 1" }
    let centrals = diary.centrals.withLock { $0 }
    #expect(centrals[1].identifier == centrals[2].identifier && centrals[0].identifier != centrals[1].identifier)
  }

  @Test func noUpdateIsLongerThanAValueMayBe() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", .notify)
    let (manager, _) = try await diary.serving(radio, [level])
    let central = ScriptedCentral(radio, packetSize: 517)
    try await central.subscribe(to: "2a19")
    try await diary.wait("subscribed 2A19 512 1")
    #expect(level.subscribedCentrals?.map(\.maximumUpdateValueLength) == [512])
    withExtendedLifetime(manager) {}
  }

  @Test func onlyThoseWhoAreNamedCount() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let (level, port) = (Self.characteristic("2A19", .notify), Self.characteristic("FFE1", .indicate))
    let (manager, _) = try await diary.serving(radio, [level, port])
    let (first, second) = (ScriptedCentral(radio, id: "first"), ScriptedCentral(radio, id: "second"))
    try await first.subscribe(to: "2a19")
    try await second.subscribe(to: "ffe1")
    try await diary.lines.wait { $0.count == 4 }
    let centrals = diary.centrals.withLock { $0 }
    #expect(manager.updateValue(Data([1]), for: level, onSubscribedCentrals: [centrals[1]]))
    #expect(manager.updateValue(Data([2]), for: level, onSubscribedCentrals: [centrals[0]]))
    try await first.values.wait { !$0.isEmpty }
    #expect(first.values.value == [ScriptedCentral.Value(characteristic: "2a19", bytes: [2])])
    #expect(second.values.value.isEmpty)
  }

  @Test func whenTheQueueIsFullItIsToldWhenThereIsRoom() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", .notify)
    let (manager, _) = try await diary.serving(radio, [level])
    let central = ScriptedCentral(radio)
    try await central.subscribe(to: "2a19")
    try await diary.wait("subscribed 2A19 20 1")
    radio.holdValues(true)
    await diary.settle(radio)
    var sent: [UInt8] = []
    while manager.updateValue(Data([UInt8(sent.count)]), for: level, onSubscribedCentrals: nil) {
      sent.append(UInt8(sent.count))
      try #require(sent.count < 1_000, "the queue has an end")
    }
    await diary.settle(radio)
    #expect(!diary.lines.value.contains("ready") && central.values.value.isEmpty)
    radio.holdValues(false)
    try await diary.wait("ready")
    #expect(manager.updateValue(Data([99]), for: level, onSubscribedCentrals: nil))
    try await central.values.wait { [sent] in $0.count == sent.count + 1 }
    #expect(central.values.value.map(\.bytes) == (sent + [99]).map { [$0] })
    #expect(diary.lines.value.count { $0 == "ready" } == 1)
  }

  @Test func aThousandValuesComeInOrder() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", .notify)
    let (manager, _) = try await diary.serving(radio, [level])
    let central = ScriptedCentral(radio)
    try await central.subscribe(to: "2a19")
    try await diary.wait("subscribed 2A19 20 1")
    var refusals = 0
    for number in 0..<1_000 {
      while !manager.updateValue(Data("\(number)".utf8), for: level, onSubscribedCentrals: nil) {
        refusals += 1
        try await diary.lines.wait { [refusals] in $0.count { $0 == "ready" } == refusals }
      }
    }
    try await central.values.wait { $0.count == 1_000 }
    #expect(central.values.value.map { String(decoding: $0.bytes, as: UTF8.self) } == (0..<1_000).map { "\($0)" })
  }

  // MARK: - The end

  @Test func aManagerThatIsLetGoOffersNothing() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    do {
      let (manager, _) = try await diary.serving(radio, [Self.characteristic("FFE1", [.read, .notify])])
      manager.startAdvertising(nil)
      try await diary.wait("advertising true")
    }
    diary.drop()
    try await radio.status.wait { $0.managers == 0 && $0.services.isEmpty && $0.names.isEmpty }
  }

  @Test func tenThreadsMayCallAtTheSameTime() async throws {
    let (radio, diary) = (ScriptedRadio(), PeripheralDiary())
    let level = Self.characteristic("2A19", [.read, .write, .notify])
    let (manager, _) = try await diary.serving(radio, [level])
    let central = ScriptedCentral(radio)
    try await central.subscribe(to: "2a19")
    await withTaskGroup(of: Void.self) { group in
      for number in UInt8(0)..<10 {
        group.addTask {
          let own = CBMutableService(type: CBUUID(data: Data([0xAB, number])), primary: true)
          for round in UInt8(0)..<50 {
            _ = manager.updateValue(Data([number, round]), for: level, onSubscribedCentrals: nil)
            manager.add(own)
            _ = try? await central.write([number], to: "2a19")
            if round.isMultiple(of: 10) { manager.startAdvertising(nil) } else { manager.stopAdvertising() }
            manager.remove(own)
            _ = (manager.isAdvertising, manager.state, level.subscribedCentrals)
          }
        }
      }
    }
    await diary.settle(radio)
    #expect(radio.status.value.services == ["ffe0"])
  }
}
