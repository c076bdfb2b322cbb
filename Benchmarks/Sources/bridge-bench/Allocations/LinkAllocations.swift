// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import CFloor
import FamilyAF1
import FamilyEV3
import FamilyHM10
import FamilyMAVLink

/// How many blocks the heap is asked for on the way to a waiting request: by each frame that is none of its, in the rules
/// of each kind of link, and by a request and its reply in a whole link.
enum LinkAllocations {
  private static let count = 1_024
  private static let text = (0..<60).map { UInt8(97 + $0 % 26) }

  static func rows(_ options: Options) async throws -> [Row] {
    [
      row("AF1, others' replies and events", try af1()),
      row("EV3, others' replies", try ev3()),
      row("HM-10, data of a connection", try hm10()),
      row("lines (Bluno, HM-1X), another is awaited", try lines()),
      row("any framing, another frame is awaited", try frames()),
      row("MAVLink, another message is awaited", try mavlink()),
    ] + (try await requests())
  }

  private static func row(_ name: String, _ allocations: UInt64) -> Row {
    Row(
      "allocations", name, unit: "a frame", ours: [Double(allocations) / Double(count)], requirement: .atMost(0))
  }

  // MARK: - Rules

  private static func af1() throws -> UInt64 {
    let codec = AF1Codec(maximumPayload: 64)
    var hello: [UInt8] = []
    try codec.encode(
      .reply(to: .request(.hello, number: 1)), payload: [0x01, 0xEE, 0xFF, 0xC0, 0x00, 0x10, 0x01, 0x00], into: &hello)
    var traffic: [UInt8] = []
    for number in 100..<UInt16(100 + count / 2) {
      try codec.encode(.reply(to: .request(.echo, number: number)), payload: text, into: &traffic)
      try codec.encode(.event(.battery, number: number), payload: text, into: &traffic)
    }
    return try strays(
      AF1Exchange(label: "AF1", firstNumber: 1, nonce: 1), answers: [hello], asking: AF1Request(.echo), traffic)
  }

  private static func ev3() throws -> UInt64 {
    let greeting = try EV3Message(number: 1, type: .systemReply, body: [0x9E, 0]).encoded()
    var traffic: [UInt8] = []
    for number in 100..<UInt16(100 + count) {
      try EV3Message(number: number, type: .directReply, body: text).encode(into: &traffic)
    }
    return try strays(
      EV3Exchange(label: "EV3", firstNumber: 1), answers: [greeting],
      asking: EV3Request(.directCommand, body: [0, 0, 1]), traffic)
  }

  private static func hm10() throws -> UInt64 {
    let traffic = Array(repeatElement(text, count: count).joined())
    return try strays(
      HM10Exchange(label: "HM-10"), answers: [Array("OK".utf8), Array("OK+CONN".utf8)], asking: nil, traffic,
      piece: text.count)
  }

  private static func lines() throws -> UInt64 {
    let traffic = Array(repeatElement(text + [10], count: count).joined())
    let question = LineRequest([63, 10], name: "?", timeout: .seconds(1)) { $0.first == 33 }
    return try strays(LineExchange(label: "lines"), answers: [], asking: question, traffic)
  }

  private static func frames() throws -> UInt64 {
    let codec = AF1Codec(maximumPayload: 64)
    var traffic: [UInt8] = []
    for number in 100..<UInt16(100 + count) {
      try codec.encode(.reply(to: .request(.echo, number: number)), payload: text, into: &traffic)
    }
    let rules = FrameExchange(codec, label: "frames") { frame, request in
      frame.header.number == request.header.number ? .reply : .unrelated
    }
    let question = FrameRequest(Frame(AF1Header.request(.echo, number: 1)), name: "ECHO")
    return try strays(rules, answers: [], asking: question, traffic)
  }

  private static func mavlink() throws -> UInt64 {
    func frame(_ message: MAVLinkMessage, _ sequence: Int) -> [UInt8] {
      message.frame(.two, sequence: UInt8(truncatingIfNeeded: sequence), system: 1, component: 1)
    }
    let heartbeat = frame(.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 4)), 0)
    let traffic = (1...count).flatMap { frame(.systemStatus(MAVLinkSystemStatus()), $0) }
    return try strays(
      MAVLinkExchange(label: "MAVLink"), answers: [heartbeat], asking: MAVLinkRequest(MAVLinkBatteryStatus.number),
      traffic)
  }

  /// What the second pass of `traffic` allocates, of which nothing is for the request that waits and nobody gets the
  /// events; once the rules have made contact by `answers`.
  private static func strays<Rules: Exchange>(
    _ rules: Rules, answers: [[UInt8]], asking request: Rules.Request?, _ traffic: [UInt8], piece: Int = 4_096
  ) throws -> UInt64 {
    var rules = rules
    var effects = Effects<Rules.Reply, Rules.Event>(wantsEvents: false)
    var batch = FrameBatch<Rules.Codec.Header>()
    var found = 0
    let now = MonotonicTime(nanoseconds: 0)
    func deliver() {
      for index in 0..<batch.count { rules.receive(batch, at: index, now: now, effects: &effects) }
      found += batch.count
      batch.removeAll()
    }
    func pass() {
      for offset in stride(from: 0, to: traffic.count, by: piece) {
        rules.codec.decode(traffic.span.bytes.extracting(offset..<min(offset + piece, traffic.count)), into: &batch)
        deliver()
      }
    }
    rules.begin(RequestID(rawValue: 1), now: now, effects: &effects)
    for answer in answers {
      rules.codec.decode(answer.span.bytes, into: &batch)
      rules.codec.idle(into: &batch)
      deliver()
    }
    guard effects.completions.count == 1, case .success = effects.completions[0].result else {
      throw Failure("\(Rules.self) made no contact")
    }
    effects.completions = []
    if let request { rules.submit(RequestID(rawValue: 2), request, now: now, effects: &effects) }
    guard effects.completions.isEmpty else { throw Failure("\(Rules.self) doesn't wait for a reply") }
    pass()
    found = 0
    cfloor_allocations_begin()
    pass()
    let allocations = cfloor_allocations_end()
    guard found == count, effects.completions.isEmpty, effects.events.isEmpty else {
      throw Failure("\(Rules.self) found \(found) frames of \(count), or took one for its reply")
    }
    return allocations
  }

  // MARK: - A whole link

  /// Blocks that all threads ask for, for each request without contents and its reply, at a pseudo-terminal. What Swift's
  /// executor makes libdispatch ask for to wake a task is beside them. Time limits that are set anew twice a second count.
  private static func requests() async throws -> [Row] {
    let device = try Device(.echo)
    return try await device.withTransport { transport in
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      func ask() async throws {
        for _ in 0..<count {
          let reply = try await accessory.link.request(AF1Request(.echo, largestReply: 0))
          guard reply.payload.isEmpty else { throw Failure("the device echoed something else") }
        }
      }
      try await ask()
      cfloor_allocations_begin()
      do {
        try await ask()
      } catch {
        _ = cfloor_allocations_end()
        throw error
      }
      let allocations = cfloor_allocations_end()
      await accessory.close()
      return [
        Row(
          "allocations", "AF1, Link.request with its reply", unit: "a request",
          ours: [Double(allocations) / Double(count)], requirement: .atMost(0.05)),
        Row(
          "allocations", "the same, libdispatch's own to wake tasks", unit: "a request",
          ours: [Double(cfloor_allocations_of_dispatch()) / Double(count)]),
      ]
    }
  }
}
