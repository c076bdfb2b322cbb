// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// Files of the last version with formats of their own for the last day, and for days and months. `answers.txt` has what that version
/// told of them.
struct OldHistoryTests {
  private static let begin = 1_793_491_200.0
  /// The files begin here and reach to 02:00 on the fourth day, half a minute before they are read.
  private static let length = 3 * 86_400 + 7_200.0
  private static let now = begin + length + 30

  private static func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

  private static func bytes(_ name: String) throws -> [UInt8]? {
    try StateFile(name, in: "\(ProjectFolder.path)/Tests/Data/Compatibility/history").read(limit: 1 << 20)
  }

  private static func files() throws -> LongFiles {
    let files = LongFiles(days: [try bytes("history-days-0")], months: [try bytes("history-months-0")])
    let bytes = try #require(try bytes("history"))
    files.recent.state.update { $0.bytes = bytes }
    return files
  }

  private static func keeper(_ files: LongFiles) throws -> HistoryKeeper {
    let contents = try #require(try files.history.read())
    #expect(contents.dropped == 0)
    return HistoryKeeper(uptime: time(130 + length), wall: now, boot: "boot", after: contents)
  }

  /// What is told of an accessory, as in `answers.txt`.
  private static func lines(
    _ id: String, last seconds: Double, of files: LongFiles, _ keeper: inout HistoryKeeper
  ) throws -> [String] {
    var answer = keeper.answer(of: id, last: seconds, at: time(130 + length), wall: now)
    if seconds > HistoryTier.recentReach {
      answer.long = try files.history.extract(of: id, since: now - seconds, now: now)
    }
    func text(_ number: Double?) -> String { number.map { "\($0)" } ?? "-" }
    var lines = answer.series(nil).map { series in
      let points = series.points.map { point in
        ([point.time - begin, point.span] + [point.mean, point.least, point.greatest]).map(text).joined(separator: " ")
      }
      return "\(id) \(Int(seconds)) \(series.name) \(series.unit ?? "-"): \(points.joined(separator: "; "))"
    }
    let hours = answer.energy.hours.sorted { $0.key < $1.key }.map { hour, amount in
      "\(hour) \(amount.inWattHours) \(amount.outWattHours) \(amount.seconds)"
    }
    if !hours.isEmpty { lines.append("\(id) \(Int(seconds)) energy: \(hours.joined(separator: "; "))") }
    return lines
  }

  private static func check(_ files: LongFiles, _ keeper: inout HistoryKeeper) throws {
    let expected = try Page("Tests/Data/Compatibility/history/answers.txt").lines.filter { !$0.isEmpty }
    var told: [String] = []
    for (id, days) in [("SERIAL-A", [1 / 24.0, 1, 7, 400]), ("SERIAL-B", [1, 30])] {
      for day in days { told += try lines(id, last: day * 86_400, of: files, &keeper) }
    }
    #expect(told.count == expected.count)
    for (line, other) in zip(told, expected) where line != other {
      Issue.record("\(line.prefix(60)) differs from \(other.prefix(60))")
    }
  }

  @Test func filesOfTheLastVersionAreReadAsItDid() throws {
    let files = try Self.files()
    var keeper = try Self.keeper(files)
    try Self.check(files, &keeper)
  }

  /// The first write makes the last day's file anew in today's form; days and months are appended behind the old records. The answers
  /// stay.
  @Test func aHistoryOfTheLastVersionGoesOn() throws {
    let files = try Self.files()
    var keeper = try Self.keeper(files)
    #expect(keeper.needsWhole)
    let days = try #require(files.days[0].state.value.bytes)
    let taken = keeper.takeWrite(at: Self.time(130 + Self.length), wall: Self.now, isLast: true)
    let write = try #require(taken)
    #expect(write.isWhole)
    keeper.wrote(try files.history.write(write), asWhole: true)
    #expect(files.recent.state.value.bytes?.starts(with: HistoryRecord.signature) == true)
    let next = LongFiles(
      days: files.days.map { $0.state.value.bytes }, months: files.months.map { $0.state.value.bytes })
    next.recent.state.update { $0.bytes = files.recent.state.value.bytes }
    keeper = try Self.keeper(next)
    #expect(!keeper.needsWhole)
    try Self.check(next, &keeper)
    // An hour later the next hour is written, behind the old ones.
    for minute in 0..<90 {
      let passed = Double(minute) * 60
      _ = keeper.note(
        [(ReadingSeries.percent, "%", 77)], of: "SERIAL-A", at: Self.time(200 + Self.length + passed),
        wall: Self.now + 70 + passed)
    }
    let later = Self.now + 5_400
    try next.history.note(keeper.store, offset: keeper.timeline.offset, wall: later)
    #expect(next.days[0].state.value.bytes?.starts(with: days) == true)
    let read = try next.history.extract(of: "SERIAL-A", since: Self.begin, now: later).days
    let percent = try #require(read.series.first { $0.name == ReadingSeries.percent })
    #expect(percent.points.first?.time == Self.begin && percent.last?.mean == 77)
  }

  /// A file of the last version that is cut or damaged anywhere gives what is whole in it.
  @Test func aDamagedFileOfTheLastVersionKeepsWhatIsWhole() throws {
    let bytes = try #require(try Self.bytes("history-days-0"))
    func slots(_ bytes: [UInt8]) -> Set<UInt32> {
      var slots: Set<UInt32> = []
      HistoryRecord.read(bytes, .days) { slots.insert($0.slot) }
      return slots
    }
    let whole = slots(bytes)
    #expect(whole.count == 73)
    for place in stride(from: OldHistoryRecord.longSignature.count, to: bytes.count, by: 13) {
      var damaged = bytes
      damaged[place] ^= 0x20
      #expect(slots(damaged).count >= whole.count - 1, "\(place)")
      #expect(slots(Array(bytes[..<place])).isSubset(of: whole))
    }
  }
}
