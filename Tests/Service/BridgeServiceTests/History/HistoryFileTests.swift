// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// A file in memory, whose writes may fail.
private final class MemoryFile: HistoryFile {
  struct State: Sendable {
    var bytes: [UInt8]?
    var appends = 0
    var replacements = 0
    var failure: AccessoryError?
  }

  let state = Watched(State())
  let path = "/state/history"

  init(_ bytes: [UInt8]? = nil) { state.update { $0.bytes = bytes } }

  var writes: Int { state.value.appends + state.value.replacements }

  func prepare() throws(AccessoryError) {}

  func read(limit: Int) throws(AccessoryError) -> [UInt8]? { state.value.bytes.map { Array($0.prefix(limit)) } }

  private func change(_ body: @Sendable (inout State) -> Void) throws(AccessoryError) {
    if let failure = state.value.failure { throw failure }
    state.update { body(&$0) }
  }

  func append(_ bytes: [UInt8]) throws(AccessoryError) {
    try change { state in
      state.bytes = (state.bytes ?? []) + bytes
      state.appends += 1
    }
  }

  func replace(_ bytes: [UInt8]) throws(AccessoryError) {
    try change { state in
      state.bytes = bytes
      state.replacements += 1
    }
  }
}

struct HistoryFileTests {
  private static let wall = 1_795_337_580.0

  private static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

  /// A keeper that was read every 10 s, and the file that it wrote each minute.
  private static func written(_ rounds: Int) throws -> (HistoryKeeper, MemoryFile) {
    var keeper = HistoryKeeper(uptime: time(100), wall: wall, boot: "boot")
    let file = MemoryFile()
    for round in 0..<rounds {
      let now = 100 + Double(round) * 10
      let values: [(name: String, unit: String?, value: Double)] = [
        (ReadingSeries.percent, "%", Double(round % 100)), ("x", nil, 1.5),
      ]
      _ = keeper.note(values, of: "A", at: time(now), wall: wall + now - 100)
      guard round % 6 == 5, let write = keeper.takeWrite(at: time(now), wall: wall + now - 100) else { continue }
      let isWhole = if case .whole = write.content { true } else { false }
      keeper.wrote(try write.perform(on: file), asWhole: isWhole)
    }
    return (keeper, file)
  }

  private static func buckets(_ store: HistoryStore) -> [[HistoryBucket]] { store.entries.map(\.buckets) }

  @Test func aWrittenHistoryIsReadBack() throws {
    let (keeper, file) = try Self.written(600)
    #expect(file.state.value.replacements == 1 && file.state.value.appends == 99)
    let contents = HistoryContents(try #require(file.state.value.bytes))
    #expect(contents.dropped == 0 && contents.anchor?.boot == "boot")
    #expect(contents.store.entries == keeper.store.entries)
    #expect(contents.store.byteCount <= HistoryLadder.accessoryByteLimit)
  }

  /// The file grows by what is new, and is written anew when it is twice as long as what is kept.
  @Test func theFileStaysBounded() throws {
    let (keeper, file) = try Self.written(19_998)
    let state = file.state.value
    #expect(state.replacements > 2 && state.replacements < 100 && state.appends > 3_000)
    #expect((state.bytes ?? []).count <= max(262_144, 2 * keeper.store.byteCount) + 4_096)
    #expect(HistoryContents(state.bytes ?? []).store.entries == keeper.store.entries)
  }

  @Test func aTornHistoryFileKeepsItsBeginning() throws {
    let (_, file) = try Self.written(60)
    let bytes = try #require(file.state.value.bytes)
    var most = 0
    for end in 0...bytes.count {
      let contents = HistoryContents(Array(bytes[..<end]))
      let count = Self.buckets(contents.store).reduce(0) { $0 + $1.count }
      // A longer piece never says less.
      #expect(count >= most, "\(end)")
      most = max(most, count)
      #expect(contents.dropped < bytes.count || contents.anchor == nil)
    }
    #expect(most == Self.buckets(HistoryContents(bytes).store).reduce(0) { $0 + $1.count })
  }

  @Test func aWrongByteCostsLittleOfTheHistory() throws {
    let (_, file) = try Self.written(60)
    let bytes = try #require(file.state.value.bytes)
    let whole = Self.buckets(HistoryContents(bytes).store).reduce(0) { $0 + $1.count }
    for place in stride(from: HistoryRecord.signature.count, to: bytes.count, by: 7) {
      var damaged = bytes
      damaged[place] ^= 0x55
      let contents = HistoryContents(damaged)
      #expect(contents.dropped > 0, "\(place)")
      // What lies behind the damaged record is kept.
      #expect(Self.buckets(contents.store).reduce(0) { $0 + $1.count } >= whole - 40, "\(place)")
    }
    #expect(HistoryContents([]).anchor == nil)
    #expect(HistoryContents(Array("another file\n".utf8)).dropped == 13)
  }

  /// Markers everywhere, each with the longest length: reading takes no more than a few times the file's size.
  @Test func aFileFullOfMarkersHoldsNothing() {
    var bytes = HistoryRecord.signature
    while bytes.count < 1 << 20 { bytes += [0xAB, 0x48, 0x52, 0x31, 0, 0x40, 0, 0] }
    let contents = HistoryContents(bytes)
    #expect(contents.anchor == nil && contents.store.accessories.isEmpty)
  }

  @Test func spansOfTheFutureAreDropped() throws {
    var bytes = HistoryRecord.signature
    HistoryRecord.anchor(.init(boot: "", time: 10_000, uptime: 5, wall: 10_000)).write(to: &bytes)
    let buckets = [900, 1_000, 5_000_000].map { HistoryBucket(slot: $0, 1) }
    HistoryRecord.spans(HistoryEntry(id: "A", name: "x", unit: nil, rung: 0, buckets: buckets)).write(to: &bytes)
    #expect(Self.buckets(HistoryContents(bytes).store).map { $0.map(\.slot) } == [[900, 1_000]])
  }

  // MARK: - The service

  /// At most one write a minute for all accessories, and none when nothing is read.
  @Test func theHistoryIsWrittenOnceAMinute() async throws {
    let (file, clock) = (MemoryFile(), ManualClock())
    let service = Self.service(file, clock)
    await service.watch([])
    let waiting = clock.pendingCount
    for second in 1...600 {
      for id in ["A", "B", "C"] { await service.remember(id, Double(second)) }
      clock.advance(by: .seconds(1))
      try await eventually("the write's end") { await !service.isWritingHistory }
      #expect(file.writes <= second / 60)
    }
    #expect(file.writes >= 9)
    let count = file.writes
    // What was read last is written once more; then there is no timer.
    await service.remember("A", 1)
    clock.advance(by: .seconds(120))
    try await eventually("the last write") { await service.hasWrittenHistory }
    #expect(file.writes == count + 1)
    #expect(clock.pendingCount == waiting)
    clock.advance(by: .seconds(36_000))
    #expect(file.writes == count + 1)
    await service.close()
    #expect(file.writes == count + 1)
  }

  @Test func theEndOfTheServiceWrites() async throws {
    let (file, clock) = (MemoryFile(), ManualClock())
    let service = Self.service(file, clock)
    await service.watch([])
    await service.remember("A", 57)
    #expect(file.writes == 0)
    await service.close()
    #expect(file.writes == 1)
    let next = Self.service(file, ManualClock(now: Self.time(500)))
    await next.watch([])
    #expect(await next.historyStore.accessories["A"]?.series.first?.rings[0].buckets.map(\.mean) == [57])
    await next.close()
    #expect(file.writes == 1)
  }

  /// A full disk is told once; what is in memory is written as soon as there is room.
  @Test func aFullDiskIsToldOnceAndWrittenLater() async throws {
    let (file, clock, log) = (MemoryFile(), ManualClock(), Watched<[String]>([]))
    file.state.update { $0.failure = AccessoryError(errno: .noSpace, "writing /state/history") }
    let service = Self.service(file, clock, log)
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
    #expect(HistoryContents(file.state.value.bytes ?? []).store.entries == (await service.historyStore.entries))
    await service.close()
  }

  private static func service(
    _ file: MemoryFile, _ clock: ManualClock, _ log: Watched<[String]> = Watched([])
  ) -> BridgeService {
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    configuration.historyFile = file
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

  /// Whether everything is written.
  fileprivate var hasWrittenHistory: Bool { !history.keeper.isUnwritten && !isWritingHistory }

  fileprivate var isWritingHistory: Bool { history.isWriting }

  fileprivate var historyStore: HistoryStore { history.keeper.store }
}
