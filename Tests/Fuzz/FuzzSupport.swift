// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// What the fuzz targets of the framings share. Each target gives codecs, and this feeds them in all ways at once: a
// difference stops the process. The AF1 target stands by itself.

/// One entry of a batch.
struct Entry<Header: Hashable & Sendable>: Equatable {
  var outcome: FrameOutcome
  var header: Header
  var payload: [UInt8]
}

/// What a codec made of a stream.
struct Result<Header: Hashable & Sendable>: Equatable {
  var entries: [Entry<Header>]
  var counters: FrameCounters
  var isUnfinished: Bool
}

/// Numbers that the input decides.
struct Chance {
  var state: UInt64

  mutating func next(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }
}

/// The input without its first byte, which `choice` is made of.
func input(_ data: UnsafePointer<UInt8>?, _ count: Int) -> (choice: Int, bytes: [UInt8])? {
  guard let data, count > 1 else { return nil }
  return (Int(data[0]), Array(UnsafeBufferPointer(start: data + 1, count: count - 1)))
}

func entries<Header>(_ batch: FrameBatch<Header>) -> [Entry<Header>] {
  (0..<batch.count).map {
    Entry(outcome: batch.outcome(at: $0), header: batch.header(at: $0), payload: batch.payloadBytes(at: $0))
  }
}

/// What silence does in a run.
enum Pauses {
  case none
  /// Silence behind every hundredth byte of the stream, wherever it is cut.
  case fixed
  /// Silence and timeouts anywhere.
  case any
}

/// Decodes `stream` in pieces of at most `piece` bytes. `kept` tells how many bytes a codec keeps, never more than
/// `mostKept`.
func decode<Codec: FrameCodec>(
  _ codec: Codec, _ stream: RawSpan, piece: Int, pauses: Pauses, chance: inout Chance, mostKept: Int,
  kept: (Codec) -> Int
) -> Result<Codec.Header> where Codec.Header: Hashable {
  var codec = codec
  var batch = FrameBatch<Codec.Header>()
  var start = 0
  while start < stream.byteCount {
    var end = min(stream.byteCount, start + 1 + (piece == 1 ? 0 : chance.next(below: piece)))
    if pauses == .fixed { end = min(end, start / 100 * 100 + 100) }
    codec.decode(stream.extracting(start..<end), into: &batch)
    precondition(kept(codec) <= mostKept, "more is kept than may be")
    precondition(kept(codec) == 0 || codec.hasUnfinishedFrame, "bytes are kept of nothing")
    start = end
    switch pauses {
    case .none: break
    case .fixed: if end % 100 == 0 { codec.idle(into: &batch) }
    case .any:
      switch chance.next(below: 8) {
      case 0...3: codec.idle(into: &batch)
      case 4: codec.expire(into: &batch)
      default: break
      }
    }
  }
  return Result(entries: entries(batch), counters: codec.counters, isUnfinished: codec.hasUnfinishedFrame)
}

/// Feeds `bytes` to `codec` in all ways.
///
/// With `repeats`, a delivered frame is encoded again and must be what is decoded from that.
func check<Codec: FrameCodec>(
  _ codec: Codec, _ bytes: [UInt8], choice: Int, mostKept: Int, repeats: Bool = true, kept: (Codec) -> Int
) where Codec.Header: Hashable {
  let stream = bytes.span.bytes
  var chance = Chance(state: UInt64(choice))
  for pauses in [Pauses.none, .fixed] {
    let expected = decode(
      codec, stream, piece: 1, pauses: pauses, chance: &chance, mostKept: mostKept, kept: kept)
    for piece in [3, 20, 100_000] {
      let result = decode(
        codec, stream, piece: piece, pauses: pauses, chance: &chance, mostKept: mostKept, kept: kept)
      precondition(result == expected, "cuts matter")
    }
    let counters = expected.counters
    let whole = expected.entries.filter { $0.outcome == .whole }
    precondition(counters.frames == UInt64(whole.count), "frames are miscounted")
    precondition(
      expected.entries.allSatisfy { $0.outcome == .whole || $0.payload.isEmpty }, "a bad frame has a payload")
    precondition(counters.skippedBytes <= UInt64(bytes.count), "more is skipped than there was")
    if pauses == .fixed || !repeats { continue }
    var atOnce = codec
    var batch = FrameBatch<Codec.Header>()
    atOnce.decode(stream, into: &batch)
    precondition(entries(batch) == expected.entries && atOnce.counters == counters, "cuts matter")
    for entry in whole.prefix(50) { checkRepeat(codec, entry) }
  }
  let paused = decode(codec, stream, piece: 40, pauses: .any, chance: &chance, mostKept: mostKept, kept: kept)
  precondition(paused.counters.skippedBytes <= UInt64(bytes.count), "more is skipped than there was")
  checkRoundTrip(codec, bytes)
}

/// A delivered frame is one: encoding it again gives bytes that decode to it.
private func checkRepeat<Codec: FrameCodec>(
  _ codec: Codec, _ entry: Entry<Codec.Header>
) where Codec.Header: Hashable {
  var wire: [UInt8] = []
  do { try codec.encode(entry.header, payload: entry.payload, into: &wire) } catch { preconditionFailure("\(error)") }
  var again = codec
  var one = FrameBatch<Codec.Header>()
  again.decode(wire.span.bytes, into: &one)
  again.idle(into: &one)
  precondition(
    entries(one).map(\.payload) == [entry.payload] && one.outcome(at: 0) == .whole, "a frame does not survive encoding")
}

/// The stream as a payload.
private func checkRoundTrip<Codec: FrameCodec>(_ codec: Codec, _ bytes: [UInt8]) where Codec.Header: Hashable {
  guard let header = Codec.Header.blank else { return }
  let payload = Array(bytes.prefix(300))
  var wire: [UInt8] = [1, 2]
  do { try codec.encode(header, payload: payload, into: &wire) } catch {
    precondition(wire == [1, 2], "a refused frame leaves something behind")
    return
  }
  var again = codec
  var one = FrameBatch<Codec.Header>()
  again.decode(wire.span.bytes.extracting(2..<wire.count), into: &one)
  precondition(entries(one).map(\.payload) == [payload] && one.outcome(at: 0) == .whole, "a payload does not survive")
  precondition(!again.hasUnfinishedFrame && again.counters.skippedBytes == 0, "a frame leaves something behind")
}

extension Hashable {
  /// A header to encode with, where one is as good as another.
  fileprivate static var blank: Self? {
    switch Self.self {
    case is NoHeader.Type: NoHeader() as? Self
    case is LengthPrefix.Type: LengthPrefix() as? Self
    case is HeaderBytes.Type: HeaderBytes([0, 0, 0x11]) as? Self
    default: nil
    }
  }
}
