// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Decides from received bytes whether an accessory of one kind is there. A probe is a value without I/O or a clock,
/// and sends nothing itself.
package protocol KindProbe: Sendable {
  /// The result; nil while the probe waits.
  var outcome: ProbeOutcome? { get }
  /// When `timePassed` must be called next; nil while the probe waits only for bytes.
  var deadline: MonotonicTime? { get }
  /// Starts the probe, when its request is sent or when listening begins. `timing` is that of the line.
  mutating func start(now: MonotonicTime, timing: LineTiming)
  /// Passes received bytes to the probe.
  mutating func take(_ bytes: [UInt8], now: MonotonicTime)
  /// Tells the probe the time. Called at `deadline`, and may be called earlier.
  mutating func timePassed(now: MonotonicTime)
}

/// The result of a probe.
package enum ProbeOutcome: Sendable, Hashable {
  /// An accessory of the kind is there, with these values.
  case fits([IdentificationFind.Fact])
  /// A device answers with the kind's protocol, but refuses the request.
  case refused(String)
  /// There was no reply in time, or the reply isn't one of this kind.
  case nothing
}

/// A probe for text: when the line falls silent, it examines the bytes since the request, at most `limit`.
package struct TextProbe: KindProbe {
  /// Decodes the reply; returns nil when the bytes aren't one.
  package let meaning: @Sendable ([UInt8]) -> [IdentificationFind.Fact]?
  package let timeout: Duration
  package private(set) var outcome: ProbeOutcome?
  private var bytes: [UInt8] = []
  private var end = MonotonicTime(nanoseconds: .max)
  private var silence: MonotonicTime?
  private var pause = Duration.milliseconds(100)

  private static let limit = 512

  package init(timeout: Duration, _ meaning: @escaping @Sendable ([UInt8]) -> [IdentificationFind.Fact]?) {
    (self.timeout, self.meaning) = (timeout, meaning)
  }

  package var deadline: MonotonicTime? { outcome == nil ? min(end, silence ?? end) : nil }

  package mutating func start(now: MonotonicTime, timing: LineTiming) {
    (outcome, bytes, silence) = (nil, [], nil)
    pause = max(.milliseconds(100), timing.silence)
    end = now + timeout + timing.time(of: 64)
  }

  package mutating func take(_ bytes: [UInt8], now: MonotonicTime) {
    guard outcome == nil else { return }
    self.bytes += bytes.prefix(Self.limit - self.bytes.count)
    silence = now + pause
  }

  package mutating func timePassed(now: MonotonicTime) {
    guard outcome == nil else { return }
    if let silence, silence <= now {
      self.silence = nil
      outcome = meaning(bytes).map { .fits($0) }
    }
    if outcome == nil, end <= now { outcome = meaning(bytes).map { .fits($0) } ?? .nothing }
  }
}

/// A probe that searches for valid frames of a codec.
package struct CodecProbe<Codec: FrameCodec>: KindProbe {
  /// Decodes a frame; returns nil when it is no evidence for the kind.
  package let meaning: @Sendable (Codec.Header, RawSpan) -> [IdentificationFind.Fact]?
  /// The timeout; nil when the step's time for listening is the only limit.
  package let timeout: Duration?
  package private(set) var outcome: ProbeOutcome?
  private let fresh: Codec
  private var codec: Codec
  private var batch = FrameBatch<Codec.Header>()
  private var end: MonotonicTime?
  private var silence: MonotonicTime?
  private var timing = LineTiming.instant

  package init(
    _ codec: Codec, timeout: Duration?,
    _ meaning: @escaping @Sendable (Codec.Header, RawSpan) -> [IdentificationFind.Fact]?
  ) {
    (fresh, self.codec, self.timeout, self.meaning) = (codec, codec, timeout, meaning)
  }

  package var deadline: MonotonicTime? {
    guard outcome == nil else { return nil }
    return [end, silence].compactMap { $0 }.min()
  }

  package mutating func start(now: MonotonicTime, timing: LineTiming) {
    (outcome, codec, silence, self.timing) = (nil, fresh, nil, timing)
    batch.removeAll()
    end = timeout.map { now + $0 + timing.time(of: 256) }
  }

  package mutating func take(_ bytes: [UInt8], now: MonotonicTime) {
    guard outcome == nil else { return }
    codec.decode(bytes.span.bytes, into: &batch)
    silence = codec.hasUnfinishedFrame ? now + timing.silence : nil
    look()
  }

  package mutating func timePassed(now: MonotonicTime) {
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
