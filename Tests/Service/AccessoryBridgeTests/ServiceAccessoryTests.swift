// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import FamilyEV3
import FamilyEV3Simulator
import Glibc
import TestSupport
import Testing

/// A program of this package's libraries and a real service at once.
@Suite("A program and a service", .serialized, .timeLimit(.minutes(Patience.minutes(4)))) struct ServiceAccessoryTests {
  @Test func theProgramUsesWhatTheServiceHolds() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = try await place.serve()
    let accessories = place.accessories
    #expect(try await accessories.list().map(\.service) == [place.socket])
    #expect(try await accessories.list().map(\.driver) == ["framed"])

    let accessory = try await accessories.open("SIM0001")
    #expect(accessory is ServiceAccessory && accessory.label == "SIM0001")
    #expect(
      try await accessory.battery()
        == BatteryReading(percent: 57, level: .high, millivolts: 4_200, charge: .discharging))
    #expect(try await accessory.status() == AccessoryStatus(state: .idle, reportsFaults: true))
    #expect(try await accessory.identify().serialNumber == "SIM0001")
    let values = try await accessory.values()
    #expect(values.first == AccessoryValue("state", quantity: .state, content: .choice(word: "idle", number: 0)))
    #expect(accessory.protocolDetails?.name == "AF1" && accessory.protocolDetails?.bootID != nil)
    #expect(try await accessory.request(AF1Command.echo.rawValue, payload: [1, 0xFF]) == [1, 0xFF])
    #expect(await kind { () throws(AccessoryError) in _ = try await accessory.request(0x7D, payload: []) } == .refused)
    var news = accessory.news().makeAsyncIterator()
    await simulator.setStatus(AF1StatusReply(state: .idle, progress: 2))
    #expect(try await news.next() == .status(AccessoryStatus(state: .idle, progress: 2, reportsFaults: true)))
    #expect(try await accessory.values().contains { $0.name == "progress" && $0.number == 2 })
    while case .values(let told) = try await news.next() {
      if told.contains(where: { $0.name == "progress" && $0.number == 2 }) { break }
    }
    await simulator.setBattery(AF1BatteryReply(level: .low, percent: 8))
    #expect(try await news.next() == .battery(BatteryReading(percent: 8, level: .low)))
    await simulator.setStatus(AF1StatusReply(state: .busy, progress: 3))
    #expect(try await news.next() == .status(AccessoryStatus(state: .busy, progress: 3, reportsFaults: true)))
    // Others use it meanwhile.
    let other = try await place.start("bridge-cli", "battery", "SIM0001").end()
    #expect(other.outputText.contains("8 %"), "\(other.outputText)\(other.errorText)")

    // Closed by this program, it is still the service's.
    await accessory.close()
    while let event = try await news.next() { #expect(event != .other) }
    #expect(await kind { () throws(AccessoryError) in _ = try await accessory.battery() } == .cancelled)
    #expect(try await accessories.open().battery().percent == 8)
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }

  @Test func rawBytesAreLent() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = try await place.serve()
    let accessories = place.accessories
    let shared = try await accessories.open()
    #expect(try await shared.battery().percent == 57)
    for round in 1...2 {
      let session = try await accessories.openSession("SIM0001")
      #expect(session.label == "SIM0001")
      // Its line is as one that is opened here; this one has settings and no modem lines.
      let line = try #require(session.line)
      #expect(try await line.status().baudRate == 115_200, "the last borrower's settings are gone")
      #expect(try await line.change(LineChanges(baudRate: 57_600)).baudRate == 57_600)
      #expect(session.transport.timing == .serial(baudRate: 57_600))
      try await line.purge([.received, .unsent])
      let refusal = await kind { () throws(AccessoryError) in _ = try await line.modemLines() }
      #expect(refusal == .unsupported)
      let own = try await AF1Accessory.open(session)
      #expect(try await own.echo([1, 2, 3]) == [1, 2, 3])
      // What was heard last; nothing else is sent among the bytes.
      #expect(try await shared.battery().percent == 57)
      #expect(await kind { () throws(AccessoryError) in _ = try await shared.files?.makeFolder("x") } == .busy)
      // Beside a link, too.
      #expect(try await line.status().baudRate == 57_600)
      await own.close()
      #expect(await kind { () throws(AccessoryError) in _ = try await line.status() } == .cancelled)
      try await place.attached(round + 1, by: service)
      #expect(try await shared.battery().percent == 57)
    }
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }

  @Test func filesPassThroughTheService() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = try await place.serve()
    let accessory = try await place.accessories.open()
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
    let done = Watched<[Int]>([])
    var transfer = try accessory.requireFiles().makeSendTransfer(MemoryFile(bytes), to: "picture", as: .image)
    try await transfer.run(on: accessory) { count, total in done.update { $0.append(total == 10_000 ? count : -1) } }
    #expect(await simulator.file(named: "picture") == bytes)
    #expect(done.value.last == 10_000 && done.value == done.value.sorted() && transfer.resumptions == 0)
    #expect(transfer.crc32 != nil && transfer.size == 10_000)
    // AF1 has no files that can be got, through the service as without it.
    var get = try accessory.requireFiles().makeGetTransfer("picture", limit: 10, into: MemoryFile())
    let error = await kind { () throws(AccessoryError) in try await get.run(on: accessory, progress: nil) }
    #expect(error == .unsupported)
    await accessory.close()
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }

  /// Killed, the service is gone for everything that was open; without it the same program works by itself; and when it is
  /// back, through it again.
  @Test func aProgramWorksOnWithoutAKilledService() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let accessories = place.accessories
    var service = try await place.serve()
    for _ in 0..<2 {
      let accessory = try await accessories.open("SIM0001")
      #expect(accessory is ServiceAccessory)
      var news = accessory.news().makeAsyncIterator()
      #expect(try await accessory.battery().percent == 57)
      let session = try await accessories.openSession("SIM0001")
      var input = session.input.makeAsyncIterator()
      service.signal(SIGKILL)
      try await service.end()
      #expect(await kind { () throws(AccessoryError) in while try await news.next() != nil {} } == .disconnected)
      #expect(await kind { () throws(AccessoryError) in _ = try await accessory.battery() } == .disconnected)
      #expect(await kind { () throws(AccessoryError) in while try await input.next() != nil {} } == .disconnected)
      #expect(await kind { () throws(AccessoryError) in try await session.write([1]) } == .disconnected)

      let own = try await accessories.open("SIM0001")
      #expect(own.narrowed(to: AF1Accessory.self) != nil)
      #expect(try await own.battery().percent == 57)
      #expect(try await accessories.list().map(\.service) == [nil])
      await own.close()

      service = try await place.serve()
      #expect(await kind { () throws(AccessoryError) in _ = try await accessory.battery() } == .disconnected)
    }
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }

  /// Unplugged, it is disconnected, though the service goes on; plugged in again, it can be opened again.
  @Test func theAccessoryGoesAndComesBack() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = try await place.serve()
    let accessories = place.accessories
    let accessory = try await accessories.open()
    var news = accessory.news().makeAsyncIterator()
    await simulator.unplug()
    #expect(await kind { () throws(AccessoryError) in while try await news.next() != nil {} } == .disconnected)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessory.status() } == .disconnected)
    #expect(await kind { () throws(AccessoryError) in for try await _ in accessory.news() {} } == .disconnected)
    try await simulator.plugIn()
    try await place.attached(2, by: service)
    #expect(try await accessories.open().battery().percent == 57)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessory.status() } == .disconnected)
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }

  /// A brick's commands, and its files, as its driver has them.
  @Test func commandsPassThroughTheService() async throws {
    let place = try Place()
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = place.simulators
    configuration.device.percent = 57
    let simulator = EV3Simulator(configuration)
    try await simulator.plugIn()
    let service = try await place.serve()
    let accessory = try await place.accessories.open()
    let served = try #require(accessory as? ServiceAccessory)
    #expect(try await served.commands() == EV3Brick.commands)
    let calls = try CommandCall.read(["battery-percent", "+", "led", "pattern=off"], of: EV3Brick.commands)
    let replies = try await accessory.perform(calls, isAnswered: true)
    #expect(replies.map(\.command) == ["battery-percent", "led"] && replies.first?.values == [.whole(57)])
    #expect(try await accessory.perform(calls, isAnswered: false).isEmpty)
    let files = try accessory.requireFiles()
    var upload = try files.makeSendTransfer(MemoryFile([1, 2, 3]), to: "../prjs/a.rbf", as: nil)
    try await upload.run(on: accessory, progress: nil)
    #expect(try await files.entries(of: "../prjs").map(\.name).contains("a.rbf"))
    let got = MemoryFile()
    var download = try files.makeGetTransfer("../prjs/a.rbf", limit: 100, into: got)
    try await download.run(on: accessory, progress: nil)
    #expect(got.bytes == [1, 2, 3] && download.size == 3)
    try await files.remove("../prjs/a.rbf")
    #expect(await kind { () throws(AccessoryError) in try await files.remove("../prjs/a.rbf") } == .refused)
    await accessory.close()
    service.signal(SIGTERM)
    try await service.end()
    await simulator.stop()
  }
}
