// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Tells from what arrives whether an accessory of one kind is there. A value: no I/O, no clock; it sends nothing itself.
protocol KindProbe: Sendable {
  /// What it has come to; nil while it waits.
  var outcome: ProbeOutcome? { get }
  /// When `timePassed` is to be called next; nil while it waits for bytes only.
  var deadline: MonotonicTime? { get }
  /// The request is being sent, or it begins to listen. `timing` is the line's.
  mutating func start(now: MonotonicTime, timing: LineTiming)
  /// Bytes have arrived.
  mutating func take(_ bytes: [UInt8], now: MonotonicTime)
  /// Time has passed, perhaps `deadline`.
  mutating func timePassed(now: MonotonicTime)
}

/// What a probe has come to.
enum ProbeOutcome: Sendable, Hashable {
  /// The kind is there, and says this.
  case fits([IdentificationFind.Fact])
  /// Somebody speaks its protocol, and refuses.
  case refused(String)
  /// The answer is whole, and not that of the kind; or there was none in time.
  case nothing
}

/// Looks at all that has arrived since the request, up to some bytes, when the line falls silent.
struct TextProbe: KindProbe {
  /// What the bytes say; nil when they are no answer.
  let meaning: @Sendable ([UInt8]) -> [IdentificationFind.Fact]?
  let patience: Duration
  private(set) var outcome: ProbeOutcome?
  private var bytes: [UInt8] = []
  private var end = MonotonicTime(nanoseconds: .max)
  private var silence: MonotonicTime?
  private var pause = Duration.milliseconds(100)

  private static let limit = 512

  init(patience: Duration, _ meaning: @escaping @Sendable ([UInt8]) -> [IdentificationFind.Fact]?) {
    (self.patience, self.meaning) = (patience, meaning)
  }

  var deadline: MonotonicTime? { outcome == nil ? min(end, silence ?? end) : nil }

  mutating func start(now: MonotonicTime, timing: LineTiming) {
    (outcome, bytes, silence) = (nil, [], nil)
    pause = max(.milliseconds(100), timing.silence)
    end = now + patience + timing.time(of: 64)
  }

  mutating func take(_ bytes: [UInt8], now: MonotonicTime) {
    guard outcome == nil else { return }
    self.bytes += bytes.prefix(Self.limit - self.bytes.count)
    silence = now + pause
  }

  mutating func timePassed(now: MonotonicTime) {
    guard outcome == nil else { return }
    if let silence, silence <= now {
      self.silence = nil
      outcome = meaning(bytes).map { .fits($0) }
    }
    if outcome == nil, end <= now { outcome = meaning(bytes).map { .fits($0) } ?? .nothing }
  }
}

/// Looks for whole frames of a codec that mean something.
struct CodecProbe<Codec: FrameCodec>: KindProbe {
  /// What a frame says; nil when it means nothing here.
  let meaning: @Sendable (Codec.Header, RawSpan) -> [IdentificationFind.Fact]?
  /// Nil: as long as anybody listens.
  let patience: Duration?
  private(set) var outcome: ProbeOutcome?
  private let fresh: Codec
  private var codec: Codec
  private var batch = FrameBatch<Codec.Header>()
  private var end: MonotonicTime?
  private var silence: MonotonicTime?
  private var timing = LineTiming.instant

  init(
    _ codec: Codec, patience: Duration?,
    _ meaning: @escaping @Sendable (Codec.Header, RawSpan) -> [IdentificationFind.Fact]?
  ) {
    (fresh, self.codec, self.patience, self.meaning) = (codec, codec, patience, meaning)
  }

  var deadline: MonotonicTime? {
    guard outcome == nil else { return nil }
    return [end, silence].compactMap { $0 }.min()
  }

  mutating func start(now: MonotonicTime, timing: LineTiming) {
    (outcome, codec, silence, self.timing) = (nil, fresh, nil, timing)
    batch.removeAll()
    end = patience.map { now + $0 + timing.time(of: 256) }
  }

  mutating func take(_ bytes: [UInt8], now: MonotonicTime) {
    guard outcome == nil else { return }
    codec.decode(bytes.span.bytes, into: &batch)
    silence = codec.hasUnfinishedFrame ? now + timing.silence : nil
    look()
  }

  mutating func timePassed(now: MonotonicTime) {
    guard outcome == nil else { return }
    if let silence, silence <= now {
      self.silence = nil
      codec.idle(into: &batch)
      look()
    }
    if outcome == nil, let end, end <= now { outcome = .nothing }
  }

  private mutating func look() {
    for index in 0..<batch.count where batch.outcome(at: index) == .whole && outcome == nil {
      let header = batch.header(at: index)
      outcome = batch.withPayload(at: index) { meaning(header, $0) }.map { .fits($0) }
    }
    batch.removeAll()
  }
}
