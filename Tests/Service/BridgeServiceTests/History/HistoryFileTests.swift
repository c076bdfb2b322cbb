// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

struct HistoryFileTests {
  private static let wall = 1_795_337_580.0

  private static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

  /// A keeper that was read every 10 s, and the file that it wrote each minute, at last with the finest readings.
  private static func written(_ rounds: Int) throws -> (HistoryKeeper, MemoryHistoryFile) {
    var keeper = HistoryKeeper(uptime: time(100), wall: wall, boot: "boot")
    let file = MemoryHistoryFile()
    let disk = HistoryDisk(file)
    for round in 0..<rounds {
      let now = 100 + Double(round) * 10
      let values: [(name: String, unit: String?, value: Double)] = [
        (ReadingSeries.percent, "%", Double(round % 100)), ("x", nil, 1.5),
      ]
      _ = keeper.note(values, of: "A", at: time(now), wall: wall + now - 100)
      guard round % 6 == 5,
        let write = keeper.takeWrite(at: time(now), wall: wall + now - 100, isLast: round == rounds - 1)
      else { continue }
      keeper.wrote(try disk.write(write), asWhole: write.isWhole)
    }
    return (keeper, file)
  }

  /// The number of buckets, but for the finest, which are written last.
  private static func count(_ store: HistoryStore) -> Int {
    store.blocks(finest: false).reduce(0) { $0 + $1.series.reduce(0) { $0 + $1.buckets.count } }
  }

  @Test func aWrittenHistoryIsReadBack() throws {
    let (keeper, file) = try Self.written(600)
    #expect(file.state.value.replacements == 1 && file.state.value.appends == 99)
    let contents = HistoryContents(try #require(file.state.value.bytes))
    #expect(contents.dropped == 0 && contents.anchor?.boot == "boot")
    #expect(contents.store.blocks() == keeper.store.blocks())
    #expect(contents.store.byteCount <= HistoryLimits.accessoryByteLimit)
  }

  /// The file grows by what is new, and is written anew when it has grown enough.
  @Test func theFileStaysBounded() throws {
    let (keeper, file) = try Self.written(19_998)
    let state = file.state.value
    #expect(state.replacements >= 2 && state.replacements < 100 && state.appends > 3_000)
    #expect((state.bytes ?? []).count <= keeper.store.byteCount + max(262_144, 5 * keeper.store.byteCount) + 4_096)
    #expect(HistoryContents(state.bytes ?? []).store.blocks() == keeper.store.blocks())
  }

  @Test func aTornHistoryFileKeepsItsBeginning() throws {
    let (_, file) = try Self.written(60)
    let bytes = try #require(file.state.value.bytes)
    var most = 0
    for end in 0...bytes.count {
      let contents = HistoryContents(Array(bytes[..<end]))
      let count = Self.count(contents.store)
      // A longer piece never says less.
      #expect(count >= most, "\(end)")
      most = max(most, count)
      #expect(contents.dropped < bytes.count || contents.anchor == nil)
    }
    #expect(most == Self.count(HistoryContents(bytes).store))
  }

  @Test func aWrongByteCostsLittleOfTheHistory() throws {
    let (_, file) = try Self.written(60)
    let bytes = try #require(file.state.value.bytes)
    let whole = Self.count(HistoryContents(bytes).store)
    for place in stride(from: HistoryRecord.signature.count, to: bytes.count, by: 7) {
      var damaged = bytes
      damaged[place] ^= 0x55
      let contents = HistoryContents(damaged)
      #expect(contents.dropped > 0, "\(place)")
      // What lies behind the damaged record is kept.
      #expect(Self.count(contents.store) >= whole - 40, "\(place)")
    }
    #expect(HistoryContents([]).anchor == nil)
    #expect(HistoryContents(Array("another file\n".utf8)).dropped == 13)
  }

  /// A service has ended, and the next one was killed: its file has old readings of 10 s, and newer ones of a minute. The old ones don't
  /// hide those.
  @Test func aKilledServiceLosesNoMinutes() throws {
    var keeper = HistoryKeeper(uptime: Self.time(100), wall: Self.wall, boot: "boot")
    let file = MemoryHistoryFile()
    let disk = HistoryDisk(file)
    for minute in 0..<60 {
      let now = 100 + Double(minute) * 60
      _ = keeper.note([("x", nil, Double(minute))], of: "A", at: Self.time(now), wall: Self.wall + now - 100)
      guard minute % 5 == 4,
        let write = keeper.takeWrite(at: Self.time(now), wall: Self.wall + now - 100, isLast: minute == 4)
      else { continue }
      keeper.wrote(try disk.write(write), asWhole: write.isWhole)
    }
    let contents = HistoryContents(try #require(file.state.value.bytes))
    #expect(contents.isUnfinished && contents.dropped == 0)
    var next = HistoryKeeper(uptime: Self.time(3_700), wall: Self.wall + 3_600, boot: "boot", after: contents)
    #expect(next.needsWhole)
    let series = next.answer(of: "A", last: nil, at: Self.time(3_700), wall: Self.wall + 3_600).series(nil)
    #expect(series.first?.points.compactMap(\.mean) == (0..<60).map(Double.init))
  }

  /// A file that is written as a whole has no readings of 10 s, which would soon be out of date, until the service ends; then it has all.
  @Test func theFinestReadingsAreWrittenOnceAtTheEnd() throws {
    var keeper = HistoryKeeper(uptime: Self.time(100), wall: Self.wall, boot: "boot")
    let file = MemoryHistoryFile()
    let disk = HistoryDisk(file)
    for round in 0..<200 {
      let now = 100 + Double(round) * 10
      _ = keeper.note([("x", nil, Double(round))], of: "A", at: Self.time(now), wall: Self.wall + now - 100)
      guard round % 90 == 5 || round == 199,
        let write = keeper.takeWrite(at: Self.time(now), wall: Self.wall + now - 100, isLast: round == 199)
      else { continue }
      #expect(write.isWhole == (round == 5))
      keeper.wrote(try disk.write(write), asWhole: write.isWhole)
      let finest = HistoryContents(file.state.value.bytes ?? []).store.blocks().first { $0.tier == HistoryTier.all[0] }
      #expect(finest?.series.first?.buckets.count == (round == 199 ? 200 : nil), "\(round)")
    }
  }

  /// A file of the last day as version 1 of the format begins.
  private static var oldFile: [UInt8] {
    var bytes = OldHistoryRecord.recentSignature
    var content: [UInt8] = [1, 0, 0]
    for number in [10_000.0, 5, 10_000] { HistoryFrame.add(number.bitPattern, to: &content) }
    HistoryFrame.write(content, to: &bytes)
    return bytes
  }

  /// Versions up to 0.2 wrote each bucket in 19 bytes.
  @Test func recordsOfOlderVersionsAreRead() throws {
    var bytes = Self.oldFile
    var content: [UInt8] = [2, 1, 0, 0x41, 1, 0, 0x78, 1, 1, 0, 0x56, 1, 1, 0]
    content += [150, 0, 0, 0, 7, 0, 1] + [0, 0, 0x80, 0x3F] + [0, 0, 0, 0x3F] + [0, 0, 0, 0x40]
    HistoryFrame.write(content, to: &bytes)
    let contents = HistoryContents(bytes)
    #expect(contents.dropped == 0 && contents.isOld)
    let bucket = HistoryBucket(slot: 150, count: 7, hasGapBefore: true, mean: 1, least: 0.5, greatest: 2)
    let series = HistoryBlock.Series(name: "x", unit: "V", buckets: [try #require(bucket)])
    #expect(
      contents.store.blocks() == [HistoryBlock(id: "A", tier: HistoryTier.recent[1], start: 150, series: [series])])
  }

  /// What an SD card gets in a day from eight accessories that are read every 10 s: blocks of 4 KiB, of which the first one has the
  /// end of the write before, and the file's size, which is written in the journal with a head and an end, and then in its place.
  @Test func aDayOfEightAccessoriesWritesFewMegabytes() throws {
    var keeper = HistoryKeeper(uptime: Self.time(100), wall: Self.wall, boot: "boot")
    let long = LongFiles()
    let disk = long.history
    var (written, blocks, hour) = (0, 0, 0)
    for round in 0..<(2 * 8_640) {
      let (now, wall) = (Self.time(100 + Double(round) * 10), Self.wall + Double(round) * 10)
      for id in 0..<8 {
        let current = Double((round * 37 + id) % 1_000) / 100 - 5
        let values: [(name: String, unit: String?, value: Double)] = [
          (ReadingSeries.percent, "%", Double(round % 360) / 4), (ReadingSeries.voltage, "V", 12 + current / 10),
          (ReadingSeries.current, "A", current), (ReadingSeries.temperature, "°C", 20 + current / 2),
        ]
        _ = keeper.note(values, of: "SERIAL-000\(id)", at: now, wall: wall)
      }
      guard round % 90 == 89, let write = keeper.takeWrite(at: now, wall: wall) else { continue }
      let count = try disk.write(write)
      keeper.wrote(count, asWhole: write.isWhole)
      // The first day fills the rings; the second one counts.
      guard round >= 8_640 else { continue }
      written += count
      blocks += (count + 4_095) / 4_096 + 5
      if round / 360 != hour {
        hour = round / 360
        let before = long.size
        try disk.note(keeper.store, offset: keeper.timeline.offset, wall: wall)
        written += long.size - before
        blocks += (long.size - before + 4_095) / 4_096 + 5
      }
    }
    #expect(written <= 1_300_000, "\(written) bytes")
    #expect(blocks * 4_096 <= 4_200_000, "\(blocks) blocks")
  }

  /// Markers everywhere, each with the longest length: reading takes no more than a few times the file's size.
  @Test func aFileFullOfMarkersHoldsNothing() {
    var bytes = HistoryRecord.signature
    while bytes.count < 1 << 20 { bytes += [0xAB, 0x48, 0x52, 0x31, 0, 0x40, 0, 0] }
    let contents = HistoryContents(bytes)
    #expect(contents.anchor == nil && contents.store.accessories.isEmpty)
  }

  @Test func spansOfTheFutureAreDropped() throws {
    let anchor = HistoryTimeline.Anchor(boot: "", time: 10_000, uptime: 5, wall: 10_000)
    let series = HistoryBlock.Series(name: "x", buckets: [900, 1_000, 5_000_000].map { HistoryBucket(slot: $0, 1) })
    let file = MemoryHistoryFile()
    let blocks = HistoryBlock.blocks(HistoryTier.recent[0], id: "A", [series])
    _ = try HistoryDisk(file).write(HistoryWrite(blocks: blocks, isWhole: true, anchor: anchor))
    let contents = HistoryContents(try #require(file.state.value.bytes))
    #expect(contents.store.blocks().map { $0.series.map { $0.buckets.map(\.slot) } } == [[[900, 1_000]]])
  }

  // MARK: - The service

  /// The first write after a minute, then at most one each quarter of an hour for all accessories, and none when nothing is read.
  @Test func theHistoryIsWrittenEachQuarterOfAnHour() async throws {
    let (file, clock) = (MemoryHistoryFile(), ManualClock())
    let service = Self.service(HistoryDisk(file), clock)
    await service.watch([])
    let waiting = clock.pendingCount
    for second in 1...2_000 {
      for id in ["A", "B", "C"] { await service.remember(id, Double(second)) }
      clock.advance(by: .seconds(1))
      try await eventually("the write's end") { await !service.isWritingHistory }
      #expect(file.writes <= (second + 840) / 900)
    }
    #expect(file.writes == 3)
    let count = file.writes
    // What was read last is written once more; then there is no timer.
    await service.remember("A", 1)
    clock.advance(by: .seconds(900))
    try await eventually("the last write") { await service.hasWrittenHistory }
    #expect(file.writes == count + 1)
    #expect(clock.pendingCount == waiting)
    clock.advance(by: .seconds(36_000))
    #expect(file.writes == count + 1)
    // The finest readings are written when the service ends.
    await service.close()
    #expect(file.writes == count + 2)
  }

  @Test func theEndOfTheServiceWrites() async throws {
    let (file, clock) = (MemoryHistoryFile(), ManualClock())
    let service = Self.service(HistoryDisk(file), clock)
    await service.watch([])
    await service.remember("A", 57)
    #expect(file.writes == 0)
    await service.close()
    #expect(file.writes == 1)
    let next = Self.service(HistoryDisk(file), ManualClock(now: Self.time(500)))
    await next.watch([])
    #expect(await next.historyStore.accessories["A"]?.series.first?.rings[0].buckets.map(\.mean) == [57])
    await next.close()
    #expect(file.writes == 1)
  }

  /// Without power nothing is written any more: what the file has is at most a quarter of an hour old.
  @Test func aLossOfPowerLosesAQuarterOfAnHour() async throws {
    let (file, clock) = (MemoryHistoryFile(), ManualClock())
    let service = Self.service(HistoryDisk(file), clock)
    await service.watch([])
    for minute in 0..<50 {
      await service.remember("A", Double(minute))
      clock.advance(by: .seconds(60))
      try await eventually("the write's end") { await !service.isWritingHistory }
      let store = HistoryContents(try #require(file.state.value.bytes)).store
      let written = store.accessories["A"]?.series.first?.rings[1].buckets.last.map { Int($0.mean) }
      #expect(try #require(written) >= minute - 15)
    }
    await service.close()
  }

  /// A full disk is told once; what is in memory is written as soon as there is room.
  @Test func aFullDiskIsToldOnceAndWrittenLater() async throws {
    let (file, clock, log) = (MemoryHistoryFile(), ManualClock(), Watched<[String]>([]))
    file.state.update { $0.failure = AccessoryError(errno: .noSpace, "writing /state/history") }
    let service = Self.service(HistoryDisk(file), clock, log)
    await service.watch([])
    for minute in 0..<5 {
      await service.remember("A", Double(minute))
      clock.advance(by: .seconds(60))
      try await eventually("the try's end") { await !service.isWritingHistory }
    }
    #expect(log.value.count { $0.contains("can't be written") } == 1)
    file.state.update { $0.failure = nil }
    await service.remember("A", 9)
    clock.advance(by: .seconds(60))
    try await log.wait { $0.contains { $0.contains("written again") } }
    let written = HistoryContents(file.state.value.bytes ?? []).store.blocks()
    #expect(written == (await service.historyStore.blocks(finest: false)) && !written.isEmpty)
    await service.close()
  }

  /// A file without a byte was never written so: what it had is lost, and that is said.
  @Test func aFileWithoutBytesIsToldAndBegunAnew() async throws {
    let (file, twins, log) = (MemoryHistoryFile([]), MemoryHistoryFile([]), Watched<[String]>([]))
    let (days, months) = (MemoryHistoryFile([]), MemoryHistoryFile())
    let service = Self.service(
      HistoryDisk(file, days: [days], months: [months]), twins: twins, ManualClock(), log)
    await service.watch([])
    let told = log.value.filter { $0.contains("/state/history is empty, as it is after a loss of power") }
    #expect(told.count == 3, "\(log.value)")
    for text in [": a new history begins", ": the days that it had are missing", ": what was known of equal serial"] {
      #expect(told.contains { $0.contains(text) }, "\(text)")
    }
    await service.remember("A", 57)
    await service.close()
    #expect(!HistoryContents(file.state.value.bytes ?? []).store.blocks().isEmpty)
  }

  // MARK: - Equal serial numbers

  /// An adapter with the serial number 0001 of many.
  private static func adapter(_ node: String, port: String) -> Device {
    var device = Device(.terminal(node), source: .udev, serialNumber: "0001", terminal: node)
    device.links = ["/dev/serial/by-id/usb-0001", "/dev/serial/by-path/\(port)"]
    return device
  }

  /// Attaches accessories one after another, reads one value of each, and returns the names of their histories.
  private static func run(
    _ file: MemoryHistoryFile, twins: MemoryHistoryFile, _ devices: Device..., value: Double
  ) async -> [String] {
    let (clock, log) = (ManualClock(), Watched<[String]>([]))
    let service = Self.service(HistoryDisk(file), twins: twins, clock, log)
    await service.watch([])
    for device in devices { await service.plug(device) }
    let keys = await service.remember(value)
    await service.close()
    return keys
  }

  /// Each accessory has its own history by its port, also when they come in another order the next time, with other nodes. The first
  /// one goes on with what was kept before.
  @Test func accessoriesWithTheSameSerialNumberHaveTheirOwnHistory() async throws {
    let (file, twins) = (MemoryHistoryFile(), MemoryHistoryFile())
    let second = "0001@/dev/serial/by-path/usb-2"
    func run(_ one: Device, _ other: Device? = nil, value: Double) async -> [String] {
      if let other { return await Self.run(file, twins: twins, one, other, value: value) }
      return await Self.run(file, twins: twins, one, value: value)
    }
    // One that is alone keeps its history at another port.
    #expect(await run(Self.adapter("/dev/none0", port: "usb-7"), value: 0) == ["0001"])
    #expect(await run(Self.adapter("/dev/none0", port: "usb-1"), value: 1) == ["0001"])
    #expect(twins.state.value.bytes == nil)
    let both = await run(
      Self.adapter("/dev/none0", port: "usb-1"), Self.adapter("/dev/none1", port: "usb-2"), value: 2)
    #expect(both == ["0001", second])
    let swapped = await run(
      Self.adapter("/dev/none0", port: "usb-2"), Self.adapter("/dev/none1", port: "usb-1"), value: 3)
    #expect(swapped == [second, "0001"])
    // Also when the other one isn't there.
    #expect(await run(Self.adapter("/dev/none0", port: "usb-2"), value: 4) == [second])
    #expect(await run(Self.adapter("/dev/none0", port: "usb-1"), value: 5) == ["0001"])
    let store = HistoryContents(file.state.value.bytes ?? []).store
    #expect(Set(store.accessories.keys) == ["0001", second])
  }

  /// Earlier versions named the history of the second one by its place, after a blank.
  @Test func whatAnEarlierVersionHasKeptOfTwinsIsGoneOnWith() async throws {
    let former = "0001 /dev/serial/by-path/usb-2"
    for isSwapped in [false, true] {
      let (file, twins) = (MemoryHistoryFile(), MemoryHistoryFile())
      let earlier = Self.service(HistoryDisk(file), ManualClock())
      await earlier.watch([])
      for name in ["0001", former] { await earlier.remember(name, 1) }
      await earlier.close()
      let (one, other) = (Self.adapter("/dev/none0", port: "usb-1"), Self.adapter("/dev/none1", port: "usb-2"))
      let keys = await Self.run(
        file, twins: twins, isSwapped ? other : one, isSwapped ? one : other, value: 2)
      #expect(keys == (isSwapped ? [former, "0001"] : ["0001", former]))
    }
  }

  private static func service(
    _ files: HistoryDisk, twins: MemoryHistoryFile? = nil, _ clock: ManualClock, _ log: Watched<[String]> = Watched([])
  ) -> BridgeService {
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    (configuration.history, configuration.twinFile) = (files, twins)
    let logger = ServiceHarness.logger(log)
    let wall = wall
    configuration.wallClock = { wall + Double(clock.now.nanoseconds) / 1e9 }
    return BridgeService(configuration, profiles: ProfileStore([]), drivers: .builtIn, log: logger, clock: clock)
  }
}

extension BridgeService {
  /// Keeps a reading, as if it had come from an accessory.
  fileprivate func remember(_ id: String, _ value: Double) {
    history.record([("x", nil, value)], of: id, on: self)
  }

  /// A source reports the device, and it is attached.
  fileprivate func plug(_ device: Device) {
    if let path = device.address.node { expect(ExpectedDevice(path)) }
    take(.added(device))
  }

  /// Keeps a reading of each attached accessory. Returns the names of their histories, in the order of arrival.
  fileprivate func remember(_ value: Double) -> [String] {
    attachments.ordered.map { attachment in
      history.record([("x", nil, value)], of: attachment.historyKey, on: self)
      return attachment.historyKey
    }
  }

  /// Whether everything is written.
  fileprivate var hasWrittenHistory: Bool { !history.keeper.isUnwritten && !isWritingHistory }

  fileprivate var isWritingHistory: Bool { history.isWriting }

  fileprivate var historyStore: HistoryStore { history.keeper.store }
}
