// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// A conversation with faults: whole, damaged, cut and late frames, both ways, and noise.
private func conversation() -> [TraceRecord] {
  func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &frame)
    return frame
  }
  let request = frame(.request(.battery, number: 7), [])
  let reply = frame(AF1Header(flags: .reply, command: .battery, number: 7), [2, 57, 0x80, 0x0E, 2])
  var damaged = reply
  damaged[12] ^= 1
  let event = frame(.event(.status, number: 1), [0, 0, 0, 0xFF])
  let long = frame(.event(.battery, number: 2), [UInt8](repeating: 9, count: 300))
  return [
    TraceRecord(time: .milliseconds(1), direction: .toDevice, bytes: request),
    TraceRecord(time: .milliseconds(2), direction: .fromDevice, bytes: damaged),
    TraceRecord(time: .milliseconds(3), direction: .toDevice, bytes: request),
    TraceRecord(time: .milliseconds(4), direction: .fromDevice, bytes: Array(reply[..<7])),
    TraceRecord(time: .milliseconds(5), direction: .fromDevice, bytes: Array(reply[7...])),
    TraceRecord(time: .milliseconds(9), direction: .fromDevice, bytes: [1, 2, 3]),
    // A frame that never comes to its end holds up the event behind it, until silence.
    TraceRecord(time: .milliseconds(10), direction: .fromDevice, bytes: Array(long[..<20]) + event),
    TraceRecord(time: .milliseconds(200), direction: .toDevice, bytes: request),
    TraceRecord(time: .milliseconds(300), direction: .fromDevice, bytes: [0x0F]),
  ]
}

private let silence = Duration.milliseconds(50)

/// AF1's frames, each in the word for its command.
private let reader = CodecFrameReader(AF1Codec(maximumPayload: 65_535)) { header, outcome, payload, _ in
  FrameWords("AF1", "frame", title: header.command.name, number: header.number)
}

private func decoded(_ records: [TraceRecord], lookingEvery step: Duration? = nil) -> [TraceEntry] {
  var tracer = FrameTracer(silence: silence, reader: reader)
  var entries: [TraceEntry] = []
  var now = Duration.zero
  for record in records {
    if let step {
      while now + step < record.time {
        now += step
        entries += tracer.timePassed(now)
      }
    }
    entries += tracer.add(record)
  }
  return entries + tracer.finish()
}

@Suite struct FrameTracerTests {
  @Test func framesAndNoiseAreToldWithTheirTimes() {
    let entries = decoded(conversation())
    let whole = entries.compactMap { entry -> String? in
      guard case .frame(let words) = entry.content, words.outcome == .whole else { return nil }
      return "\(entry.time / .milliseconds(1)) \(entry.direction.rawValue) \(words.title)"
    }
    #expect(
      whole == [
        "1.0 to_device BATTERY", "3.0 to_device BATTERY", "5.0 from_device BATTERY", "60.0 from_device STATUS",
        "200.0 to_device BATTERY",
      ])
    let frames = entries.compactMap { if case .frame(let words) = $0.content { words } else { nil } }
    #expect(frames.contains { $0.outcome == .payloadDamaged })
    // A whole frame has its bytes, and only that.
    #expect(frames.first?.bytes == conversation()[0].bytes)
    #expect(frames.allSatisfy { $0.bytes.isEmpty == ($0.outcome != .whole) })
    let noise = entries.reduce(0) { sum, entry in
      if case .noise(let count) = entry.content { sum + count } else { sum }
    }
    // The damaged reply, three bytes, the head of the long frame, one sync byte.
    #expect(noise == 19 + 3 + 20 + 1)
  }

  @Test func looksInBetweenChangeNothing() {
    let once = decoded(conversation())
    for step in [1, 7, 49, 50, 51, 120] {
      #expect(decoded(conversation(), lookingEvery: .milliseconds(step)) == once, "a look every \(step) ms")
    }
  }
}

@Suite struct LostByteTests {
  /// A frame whose end was dropped isn't completed by what comes behind the gap; the entries say where the gap is.
  @Test func aGapEndsWhatHasBegun() {
    var records = conversation()
    let reply = records[4].bytes
    records[4] = TraceRecord(time: records[4].time, direction: .fromDevice, bytes: reply, lostBytes: 40)
    let entries = decoded(Array(records[3...4]))
    #expect(
      entries.map(\.content) == [.noise(byteCount: 7), .lost(byteCount: 40), .noise(byteCount: reply.count)])
    #expect(entries[..<2].allSatisfy { $0.time == records[4].time })
  }

  @Test func aLossIsRecordedAndReadAgain() throws {
    let record = TraceRecord(time: .milliseconds(7), direction: .toDevice, bytes: [1], lostBytes: 12)
    #expect(Recording.line(record) == "#lost 0.007000000 12\n0.007000000 > 01\n")
    var reader = RecordingReader()
    var lines: [Recording.Line] = []
    let text = Recording.start(silence: silence) + Recording.line(record) + "#lost property office\n"
    try reader.read(Array(text.utf8), into: &lines)
    let loss = TraceRecord(time: .milliseconds(7), direction: .fromDevice, bytes: [], lostBytes: 12)
    let rest = TraceRecord(time: .milliseconds(7), direction: .toDevice, bytes: [1])
    #expect(lines == [.start(silence: silence), .record(loss), .record(rest), .comment])
    let live = decoded([record])
    #expect(decoded([loss, rest]).map(\.content) == live.map(\.content))
    #expect(Recording.line(TraceRecord(time: .zero, direction: .toDevice, bytes: [])) == "")
  }

  @Test(arguments: [Duration.seconds(-5), .nanoseconds(Int64.min), .seconds(Int64.max), .seconds(1 << 33)])
  func everyTimeHasATextThatCanBeRead(time: Duration) throws {
    let line = Recording.line(TraceRecord(time: time, direction: .toDevice, bytes: [1]))
    #expect(throws: Never.self) { try Recording.parse(line.dropLast()) }
  }
}

@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct TraceTapTests {
  private func pass(_ count: Int, _ bytes: [UInt8], _ tap: TraceTap) {
    for _ in 0..<count { tap.passed(.fromDevice, bytes.span.bytes) }
  }

  /// What finds no room is counted, and told by the next record that has some: when all that waited has been taken.
  @Test(arguments: [1, 4_096]) func aTraceIsBoundedAndTellsItsLosses(size: Int) async {
    let tap = TraceTap(clock: ManualClock())
    let bytes = [UInt8](repeating: 7, count: size)
    let room = min(TraceQueue.recordLimit, TraceQueue.byteLimit / size)
    pass(room + 10, bytes, tap)
    var reader = tap.records.makeAsyncIterator()
    #expect(await reader.next()?.lostBytes == 0)
    pass(1, bytes, tap)
    for _ in 1..<room { #expect(await reader.next()?.lostBytes == 0) }
    pass(2, bytes, tap)
    let next = await reader.next()
    #expect(next?.bytes == bytes && next?.lostBytes == 11 * size)
    #expect(await reader.next()?.lostBytes == 0)
    // At the end a record of its own tells.
    pass(room + 3, bytes, tap)
    tap.finish()
    pass(1, bytes, tap)
    for _ in 0..<room { #expect(await reader.next()?.bytes == bytes) }
    let last = await reader.next()
    #expect(last?.bytes == [] && last?.lostBytes == 3 * size)
    #expect(await reader.next() == nil)
  }

  @Test func aPieceOfAnyLengthFindsRoomInAnEmptyQueue() async {
    let tap = TraceTap(clock: ManualClock())
    pass(2, [UInt8](repeating: 1, count: TraceQueue.byteLimit + 1), tap)
    tap.finish()
    var reader = tap.records.makeAsyncIterator()
    #expect(await reader.next()?.bytes.count == TraceQueue.byteLimit + 1)
    #expect(await reader.next()?.lostBytes == TraceQueue.byteLimit + 1)
    #expect(await reader.next() == nil)
  }
}

@Suite struct RecordingTests {
  private static let text =
    Recording.start(silence: silence) + conversation().map(Recording.line).joined()

  private func read(_ bytes: some Collection<UInt8>, piece: Int = .max) throws(AccessoryError) -> [Recording.Line] {
    var reader = RecordingReader()
    var lines: [Recording.Line] = []
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      try reader.read(rest.prefix(piece), into: &lines)
      rest = rest.dropFirst(piece)
    }
    return lines
  }

  @Test func aWrittenRecordingIsReadBack() throws {
    let expected = [.start(silence: silence)] + conversation().map(Recording.Line.record)
    for piece in [1, 2, 13, 64, Int.max] { #expect(try read(Self.text.utf8, piece: piece) == expected) }
  }

  @Test func theFormIsTheDocumentedOne() throws {
    let record = TraceRecord(time: .nanoseconds(1_000_412_000), direction: .toDevice, bytes: [0x0F, 0xF0, 0x11])
    #expect(Recording.line(record) == "1.000412000 > 0ff011\n")
    #expect(Recording.start(silence: silence) == "#accessory-bridge-recording 1 silence 0.050000000\n")
    let bytes = Recording.start(silence: silence, framing: .none)
    #expect(bytes == "#accessory-bridge-recording 1 silence 0.050000000 frames none\n")
    #expect(try read(bytes.utf8) == [.start(silence: silence, framing: .none)])
    let gadget = Recording.start(silence: silence, framing: .driver("my-gadget"))
    #expect(gadget == "#accessory-bridge-recording 1 silence 0.050000000 frames my-gadget\n")
    #expect(try read(gadget.utf8) == [.start(silence: silence, framing: .driver("my-gadget"))])
    #expect(TraceFraming(driver: "framed") == .unnamed && TraceFraming(name: "af1") == .unnamed)
    // A name that would break the line, or another's, is no name.
    for name in ["my gadget", "a\nb", "", "none", String(repeating: "x", count: 65)] {
      #expect(TraceFraming(driver: name) == .none, "\(name)")
    }
    for nonsense in ["frames", "frames \u{e9}", "frame none", "frames none none"] {
      let error = #expect(throws: AccessoryError.self) {
        try read("#accessory-bridge-recording 1 silence 0.050000000 \(nonsense)\n".utf8)
      }
      #expect(error?.kind == .badData)
    }
  }

  /// When a trace began; what only begins like that is a comment, as it was for older versions.
  @Test func aRecordingTellsWhenItBegan() throws {
    let began = Recording.began(.milliseconds(1_795_337_583_125))
    #expect(began == "#began 1795337583.125000000\n")
    #expect(try read((Self.text + began).utf8).last == .began(.milliseconds(1_795_337_583_125)))
    for text in ["#began\n", "#began yesterday\n", "#began 1.5\n", "#began 99999999999.000000000\n", "#beganx 1.0\n"] {
      #expect(try read((Self.text + text).utf8).last == .comment, "\(text)")
    }
  }

  @Test func cutAnywhereItReadsToItsLastWholeRecord() throws {
    let bytes = Array(Self.text.utf8)
    let all = try read(bytes)
    for count in 0...bytes.count {
      let whole = bytes[..<count].filter { $0 == UInt8(ascii: "\n") }.count
      #expect(try read(bytes[..<count]) == Array(all[..<whole]))
    }
  }

  @Test func aRecordingDecodesToWhatWasSeenLive() throws {
    let records = try read(Self.text.utf8).compactMap { if case .record(let record) = $0 { record } else { nil } }
    #expect(decoded(records) == decoded(conversation(), lookingEvery: .milliseconds(10)))
  }

  @Test func remarksAndFurtherTracesAreTaken() throws {
    let text = Self.text + "# a remark\n\n" + Recording.start(silence: .seconds(1))
    #expect(try read(text.utf8).suffix(3) == [.comment, .comment, .start(silence: .seconds(1))])
  }

  @Test(arguments: [
    "hello\n", "#accessory-bridge-recording 2 silence 0.050000000\n", "#accessory-bridge-recording 1\n",
    "#accessory-bridge-recording 1 silence 0.05\n",
  ])
  func whatIsNoRecordingIsSaid(text: String) {
    let error = #expect(throws: AccessoryError.self) { try read(text.utf8) }
    #expect(error?.kind == .badData)
  }

  @Test(arguments: [
    "1.0 > 00\n", "1.000000000 ? 00\n", "1.000000000 > 0\n", "1.000000000 > 0g\n", "1.000000000 > \n",
    "1.000000000 > 00 00\n", "-1.000000000 > 00\n", "99999999999.000000000 > 00\n", "1.000000000 > FF\n",
  ])
  func aSenselessRecordIsToldWithItsLine(line: String) {
    let error = #expect(throws: AccessoryError.self) { try read((Recording.start(silence: silence) + line).utf8) }
    #expect(error?.kind == .badData)
    #expect(error?.message.hasPrefix("line 2: ") == true)
  }

  @Test func aLineWithoutEndIsNotKept() {
    var reader = RecordingReader()
    var lines: [Recording.Line] = []
    let start = Array(Recording.start(silence: silence).utf8)
    #expect(throws: Never.self) { try reader.read(start, into: &lines) }
    let error = #expect(throws: AccessoryError.self) {
      for _ in 0..<200 { try reader.read([UInt8](repeating: UInt8(ascii: "0"), count: 65_536), into: &lines) }
    }
    #expect(error?.kind == .badData)
  }
}

@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct SpyingTests {
  @Test func aTapSeesBothDirectionsInOrderAndChangesNothing() async throws {
    let accessory = PretendedAccessory()
    let tap = TraceTap(clock: ManualClock())
    let session = AccessorySession(TappedTransport(accessory.transport, tap: tap))
    let link = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: ManualClock())
    #expect(try await link.request(AF1Request(.echo, payload: [1, 2, 3])).payload == [1, 2, 3])
    await link.close()
    tap.finish()
    var directions: [ByteDirection] = []
    for await record in tap.records { directions.append(record.direction) }
    #expect(directions == [.toDevice, .fromDevice, .toDevice, .fromDevice])
  }

  @Test func aLoopBackGivesBackWhatWasWrittenWithPressure() async throws {
    let loop = LoopbackTransport()
    let session = AccessorySession(loop)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let writer = Task { try await session.write(bytes) }
    var received: [UInt8] = []
    for try await piece in session.input {
      received += piece
      if received.count >= bytes.count { break }
    }
    try await writer.value
    #expect(received == bytes)
    await session.close()
  }
}

/// The tracer with readers of any protocol.
@Suite struct FrameReaderTests {
  /// A framing that knows nothing but lines, whose frames end by silence.
  private struct Lines: FrameReader {
    var pending: [ByteDirection: [UInt8]] = [:]
    var silenceEndsFrames: Bool { true }

    mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
      // What is answered is whole.
      let before = direction == .fromDevice ? idle(.toDevice) : []
      pending[direction, default: []] += bytes
      return before
    }
    mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
      guard let bytes = pending.removeValue(forKey: direction) else { return [] }
      return [FrameRead(direction, .frame(FrameWords("lines", .whole, payload: bytes)))]
    }
    /// Never gets done with it.
    mutating func expire(_ direction: ByteDirection) -> [FrameRead] { [] }
    func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool { pending[direction] != nil }
  }

  /// What silence ends has the time of its last byte, and what an answer ends too.
  @Test func framesThatSilenceEndsHaveTheirOwnTime() {
    var tracer = FrameTracer(silence: silence, reader: Lines())
    var entries = tracer.add(TraceRecord(time: .milliseconds(1), direction: .toDevice, bytes: [1]))
    #expect(entries.isEmpty && tracer.deadline == .milliseconds(51))
    entries = tracer.add(TraceRecord(time: .milliseconds(5), direction: .fromDevice, bytes: [2]))
    #expect(entries.map(\.time) == [.milliseconds(1)] && entries.map(\.direction) == [.toDevice])
    entries = tracer.timePassed(.milliseconds(55))
    #expect(entries.map(\.time) == [.milliseconds(5)] && entries.map(\.direction) == [.fromDevice])
    #expect(tracer.deadline == nil)
  }

  /// A reader that doesn't get done with what it has is not asked for ever.
  @Test func theEndComesWithAnyReader() {
    var tracer = FrameTracer(silence: silence, reader: Lines())
    _ = tracer.add(TraceRecord(time: .zero, direction: .toDevice, bytes: [1]))
    let gap = TraceRecord(time: .milliseconds(2), direction: .toDevice, bytes: [2], lostBytes: 7)
    #expect(tracer.add(gap).map(\.content) == [.lost(byteCount: 7)])
    #expect(tracer.finish().count == 1)
  }

  /// A header of one's own, and a length prefix: any codec will do.
  @Test func anyCodecIsTraced() throws {
    let format = HeaderFormat(
      sync: [0xA5], headerByteCount: 3, length: .init(offset: 1, byteCount: 1),
      payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<3))
    let header = try HeaderCodec(format, maximumPayload: 64)
    var bytes: [UInt8] = []
    try header.encode(HeaderBytes(0x01, at: 2), payload: [7, 8], into: &bytes)
    var tracer = FrameTracer(silence: silence, reader: CodecFrameReader(header, name: "gadget"))
    let entries = tracer.add(TraceRecord(time: .zero, direction: .toDevice, bytes: [9] + bytes)) + tracer.finish()
    guard case .frame(let words)? = entries.first?.content else { throw AccessoryError(.badData, "\(entries)") }
    #expect(words.protocol == "gadget" && words.payload == [7, 8] && words.bytes == bytes)
    #expect(words.summary == "2 bytes |..|" && entries.last?.content == .noise(byteCount: 1))
    let prefixed = try LengthPrefixedCodec(maximumPayload: 10)
    tracer = FrameTracer(silence: silence, reader: CodecFrameReader(prefixed, name: "prefixed"))
    let both = tracer.add(TraceRecord(time: .zero, direction: .fromDevice, bytes: [1, 0, 0x41, 0xFF, 0xFF, 1]))
    let outcomes = both.compactMap { if case .frame(let words) = $0.content { words.outcome } else { nil } }
    #expect(outcomes == [.whole, .tooLong])
  }
}
