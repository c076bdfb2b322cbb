// SPDX-License-Identifier: Apache-2.0

/// Finds frames of a `HeaderFormat` in a run of bytes, and keeps the state that is needed from one run to the next.
///
/// It stores no bytes: `HeaderCodec` calls it with its input, or with the bytes that it has kept. Positions count bytes
/// from the start of the stream.
struct HeaderScanner: Sendable {
  let layout: HeaderLayout
  let silence: SilenceRule
  var counters = FrameCounters()

  /// Where the last damaged frame ends, by its header. A frame that ends at or before this position may be part of a
  /// damaged frame's payload.
  private var suspectEnd = 0
  private var delivered = DeliveredFrames()
  /// Where the last payload ends whose checksum was computed and is wrong.
  private var damagedPayloadEnd = 0
  private var checkpoints: ChecksumCheckpoints

  init(_ layout: HeaderLayout, silence: SilenceRule) {
    self.layout = layout
    self.silence = silence
    checkpoints = ChecksumCheckpoints(longestRange: layout.maximumPayload)
  }

  /// Where a scan stopped.
  struct Stop {
    /// The index of the first byte that must be kept.
    var index: Int
    /// How many bytes from there on are needed before it makes sense to scan again.
    var needed: Int
  }

  /// Forgets the state of the stream, and keeps the counters.
  mutating func reset() {
    suspectEnd = 0
    delivered.removeAll()
    damagedPayloadEnd = 0
    checkpoints.reset()
  }

  /// Appends all frames in `bytes` from `start` on to `batch`, up to the first unfinished one.
  ///
  /// `base` is the position of the first byte of `bytes`.
  mutating func scan(
    _ bytes: RawSpan, from start: Int, base: Int, into batch: inout FrameBatch<HeaderBytes>
  ) -> Stop {
    let headerByteCount = layout.format.headerByteCount
    var index = start
    // Bytes before this index have been delivered or counted as skipped.
    var accounted = start
    let stop: Stop

    while true {
      index = layout.firstSync(in: bytes, from: index)
      if bytes.byteCount - index < headerByteCount {
        stop = Stop(index: index, needed: headerByteCount)
        break
      }
      let position = base + index
      let isSuspect = position < suspectEnd
      let payload: Int
      switch layout.read(bytes, at: index) {
      case .noHeader:
        if !isSuspect { counters.headerErrors += 1 }
        index += 1
        continue
      case .impossibleLength:
        if position + headerByteCount > suspectEnd { report(.malformed, bytes, at: index, into: &batch) }
        index += 1
        continue
      case .otherVersion(let length):
        if position + layout.frameByteCount(payload: length) > suspectEnd {
          report(.otherVersion, bytes, at: index, into: &batch)
        }
        index += 1
        continue
      case .header(let length): payload = length
      }
      let byteCount = layout.frameByteCount(payload: payload)
      if !delivered.isEmpty, delivered.take(position) {
        counters.skippedBytes += UInt64(index - accounted)
        index += byteCount
        accounted = index
        continue
      }
      if isSuspect, position + byteCount <= suspectEnd {
        index += 1
        continue
      }
      if payload > layout.maximumPayload {
        report(.tooLong, bytes, at: index, into: &batch)
        index += 1
        continue
      }
      if byteCount > bytes.byteCount - index {
        stop = Stop(index: index, needed: byteCount)
        break
      }
      if isIntact(bytes, at: index, payload: payload, base: base) {
        deliver(bytes, at: index, payload: payload, into: &batch)
        counters.skippedBytes += UInt64(index - accounted)
        index += byteCount
        accounted = index
      } else {
        report(.payloadDamaged, bytes, at: index, into: &batch)
        // A suspect frame may be part of a payload, so its failure says nothing about the frames behind it. Without a
        // header checksum the length itself may be damaged.
        if !isSuspect, layout.hasHeaderChecksum { suspectEnd = position + byteCount }
        index += 1
      }
    }
    counters.skippedBytes += UInt64(stop.index - accounted)
    return stop
  }

  /// Delivers the whole frames in `bytes`, which begin with an unfinished frame, and remembers their positions.
  ///
  /// Everything else is left for `scan` to report.
  mutating func lookPast(_ bytes: RawSpan, base: Int, into batch: inout FrameBatch<HeaderBytes>) {
    var suspectEnd = suspectEnd
    var index = 1
    // Whole frames that follow one another without a gap, and where the last of them ends.
    var chain: [(index: Int, payload: Int)] = []
    var chainEnd = 0
    // `scan` will find and count the same damage again.
    let damagedBefore = damagedPayloadEnd
    defer { damagedPayloadEnd = damagedBefore }
    while true {
      index = layout.firstSync(in: bytes, from: index)
      if bytes.byteCount - index < layout.format.headerByteCount { break }
      guard case .header(let payload) = layout.read(bytes, at: index) else {
        index += 1
        continue
      }
      let byteCount = layout.frameByteCount(payload: payload)
      let position = base + index
      let isPassedOver =
        position + byteCount <= suspectEnd || payload > layout.maximumPayload || byteCount > bytes.byteCount - index
      if isPassedOver {
        index += 1
        continue
      }
      if isIntact(bytes, at: index, payload: payload, base: base) {
        if silence == .onlyLast, index != chainEnd { chain.removeAll() }
        chain.append((index, payload))
        index += byteCount
        chainEnd = index
      } else {
        if position >= suspectEnd, layout.hasHeaderChecksum { suspectEnd = position + byteCount }
        index += 1
      }
    }
    if silence == .onlyLast, chainEnd != bytes.byteCount { return }
    for (index, payload) in chain {
      guard delivered.insert(base + index) else { continue }
      deliver(bytes, at: index, payload: payload, into: &batch)
    }
  }

  /// Prepares for giving up the unfinished frame. All bytes up to `end` may be part of it.
  mutating func giveUp(to end: Int) {
    if silence == .onlyLast { suspectEnd = max(suspectEnd, end) }
  }

  private mutating func isIntact(_ bytes: RawSpan, at index: Int, payload: Int, base: Int) -> Bool {
    let start = index + layout.format.headerByteCount
    // Bytes that were read once are not read again for every header among them.
    let isIntact = layout.isIntact(
      bytes, at: index, payload: payload, base: base, checkpoints: &checkpoints,
      usesCheckpoints: base + start < damagedPayloadEnd)
    if !isIntact { damagedPayloadEnd = max(damagedPayloadEnd, base + start + payload) }
    return isIntact
  }

  private mutating func deliver(
    _ bytes: RawSpan, at index: Int, payload: Int, into batch: inout FrameBatch<HeaderBytes>
  ) {
    counters.frames += 1
    let start = index + layout.format.headerByteCount
    batch.append(
      .whole, HeaderBytes(copying: bytes, at: index, count: layout.format.headerByteCount),
      payload: bytes.extracting(start..<(start + payload)))
  }

  private mutating func report(
    _ outcome: FrameOutcome, _ bytes: RawSpan, at index: Int, into batch: inout FrameBatch<HeaderBytes>
  ) {
    counters.count(outcome)
    batch.append(outcome, HeaderBytes(copying: bytes, at: index, count: layout.format.headerByteCount))
  }
}
