// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import CFloor
import FamilyAF1

/// How many blocks the heap is asked for by a frame, once buffers have grown to the traffic.
enum AllocationBenchmark {
  private static let frameCount = 1_024

  static func run(_ options: Options) async throws -> [Row] {
    let description = try DescribedAF1.description()
    // A count that counts nothing would be met, too.
    let kept = try keeping()
    guard kept >= frameCount else { throw Failure("keeping \(frameCount) frames allocated \(kept) blocks only") }
    return try await [
      row("decoding, AF1Codec", decoding(AF1Codec(maximumPayload: 64))),
      row("decoding, described", decoding(try DescribedCodec(description))),
      row("described, nobody waits", receiving(description, isWaiting: false)),
      row("described, another reply is awaited", receiving(description, isWaiting: true)),
    ] + LinkAllocations.rows(options)
  }

  private static func row(_ name: String, _ allocations: UInt64) throws -> Row {
    Row(
      "allocations", name, unit: "a frame", ours: [Double(allocations) / Double(frameCount)],
      requirement: .atMost(0))
  }

  /// Replies of 64 bytes with numbers that no request has.
  private static func frames() throws -> [UInt8] {
    var bytes: [UInt8] = []
    let codec = AF1Codec(maximumPayload: 64)
    for number in 2..<UInt16(frameCount + 2) {
      let payload = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ Int(number)) }
      try codec.encode(.reply(to: .request(.echo, number: number)), payload: payload, into: &bytes)
    }
    return bytes
  }

  private static func decoding<Codec: FrameCodec>(_ codec: Codec) throws -> UInt64 {
    let bytes = try frames()
    var codec = codec
    var batch = FrameBatch<Codec.Header>()
    return try counting { try pass(bytes, &codec, &batch) { _, _ in } }
  }

  private static func receiving(_ description: ProtocolDescription, isWaiting: Bool) throws -> UInt64 {
    let bytes = try frames()
    var rules = try DescribedExchange(description, label: "the pretended device")
    var effects = Effects<DescribedExchange.Reply, DescribedExchange.Event>()
    let now = MonotonicTime(nanoseconds: 0)
    rules.begin(RequestID(rawValue: 1), now: now, effects: &effects)
    if isWaiting {
      let request = try DescribedRequest(0, of: description, by: RequestEncoder(rules.codec))
      rules.submit(RequestID(rawValue: 2), request, now: now, effects: &effects)
    }
    effects.completions = []
    var codec = rules.codec
    var batch = FrameBatch<DescribedHeader>()
    let allocations = try counting {
      try pass(bytes, &codec, &batch) { batch, index in
        rules.receive(batch, at: index, now: now, effects: &effects)
      }
    }
    guard effects.completions.isEmpty, effects.events.isEmpty, rules.counters.replies == 0 else {
      throw Failure("a frame was taken that nobody asked for")
    }
    return allocations
  }

  /// What it takes to keep every frame: an array each.
  private static func keeping() throws -> UInt64 {
    let bytes = try frames()
    var codec = AF1Codec(maximumPayload: 64)
    var batch = FrameBatch<AF1Header>()
    return try counting {
      try pass(bytes, &codec, &batch) { batch, index in
        _ = batch.payloadBytes(at: index).withUnsafeBytes(\.baseAddress)
      }
    }
  }

  /// What the second pass allocates.
  private static func counting(_ pass: () throws -> Void) throws -> UInt64 {
    try pass()
    cfloor_allocations_begin()
    defer { _ = cfloor_allocations_end() }
    try pass()
    return cfloor_allocations_end()
  }

  /// Decodes the bytes in pieces of 4 KiB, as terminals give them, which cut frames.
  private static func pass<Codec: FrameCodec>(
    _ bytes: [UInt8], _ codec: inout Codec, _ batch: inout FrameBatch<Codec.Header>,
    _ body: (FrameBatch<Codec.Header>, Int) -> Void
  ) throws {
    var found = 0
    for offset in stride(from: 0, to: bytes.count, by: 4_096) {
      codec.decode(bytes.span.bytes.extracting(offset..<min(offset + 4_096, bytes.count)), into: &batch)
      for index in 0..<batch.count { body(batch, index) }
      found += batch.count
      batch.removeAll()
    }
    guard found == frameCount else { throw Failure("\(found) frames were found of \(frameCount)") }
  }
}
