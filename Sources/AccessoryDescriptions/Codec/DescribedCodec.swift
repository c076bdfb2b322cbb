// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds and makes the frames of a described protocol, which may have several framings on one line.
///
/// A frame's payload is its whole content; `DescribedHeader` says where in it the body is. If bytes begin like a frame
/// but are damaged, the codec skips one byte and searches on, since the length in a damaged frame can't be trusted. A
/// check that covers only bytes in front of the body is verified before the length is used.
///
/// If the line falls silent and a whole frame with a check lies behind the start of an unfinished one, that start was
/// noise. The longest frame bounds the memory, besides the bytes of one call. Crafted noise can cause a check of the
/// longest frame for every byte; frames have at most 4 KiB.
public struct DescribedCodec: FrameCodec {
  /// What a frame says besides its payload.
  public typealias Header = DescribedHeader

  /// The description.
  public let description: ProtocolDescription
  /// What has been counted since the codec was made.
  public internal(set) var counters = FrameCounters()
  /// What is wrong with the check of the last frame; nil when that frame was a good one, and before the first.
  public private(set) var mismatch: CheckMismatch?

  /// The frames with a wrong check that the last call found. A layout without a `start` has none: at every byte something like a frame
  /// with a wrong check would begin.
  public private(set) var damaged: [DamagedFrame<DescribedHeader>] = []
  /// How many of the next bytes belong to a damaged frame. What looks like another one in them isn't reported.
  private var damagedByteCount = 0
  /// The damaged frame at the start of `kept`, where the bytes may also begin a frame of another framing.
  private var suspect: (framing: Int, check: DamagedCheck)?

  enum Kind: Sendable {
    case layout(FramingPlan)
    case window(WindowCodec)
    case pairs(PairBlock)
  }

  /// The side of the line on which the codec is. It receives no frames of a framing that goes only the other way. Where other frames of
  /// both sides begin alike, it decides which are tried first.
  public enum Side: Sendable, Hashable {
    /// The host: frames of the accessory are tried first.
    case host
    /// The accessory: frames of the host are tried first.
    case accessory
  }

  let kinds: [Kind]
  /// The indices of the framings whose frames are received, in the order in which they are tried.
  private let order: [Int]
  /// The byte that all frames begin with; nil if frames begin with several bytes, or with any byte.
  private let firstByte: UInt8?
  /// The indices of framings whose frames may interrupt a block of pairs.
  private let interruptions: [Int]
  private let hasPairs: Bool
  private var kept: [UInt8] = []
  /// How many bytes must be kept before another search makes sense.
  private var needed = 0
  /// How many bytes of the unfinished frame at the start of `kept` were searched for its end, and for which framing.
  private var searched = (framing: 0, byteCount: 0)
  /// The codec of a window framing, which is then the only framing.
  private var window: WindowCodec?
  private var windowBatch = FrameBatch<NoHeader>()
  /// The search for frames if the protocol is Modbus; otherwise nil.
  var modbus: ModbusSearch?

  /// A codec at the start of a stream, for one side of the line. `wire` is the form in which Modbus frames travel.
  ///
  /// - Throws: `FramingParameterError` if a framing's parameters don't fit together.
  public init(
    _ description: ProtocolDescription, side: Side = .host, wire: ModbusWire = .serial
  ) throws(FramingParameterError) {
    guard (1...8).contains(description.framings.count) else {
      throw FramingParameterError("framings", "must be 1 to 8")
    }
    self.description = description
    var kinds: [Kind] = []
    for framing in description.framings {
      switch framing.form {
      case .layout, .hexadecimal: kinds.append(.layout(try FramingPlan(framing)))
      case .window(let pattern, let mask):
        guard description.framings.count == 1 else {
          throw FramingParameterError("window", "must be the only framing of its protocol")
        }
        let codec = try WindowCodec(pattern: pattern, mask: mask)
        if framing.direction.isReceived(on: side) { window = codec }
        kinds.append(.window(codec))
      case .pairs(let pairs): kinds.append(.pairs(try PairBlock(pairs, limit: framing.limit)))
      }
    }
    self.kinds = kinds
    if description.modbus != nil {
      guard kinds.count == ModbusForm.allCases.count else {
        throw FramingParameterError("framings", "must be Modbus's")
      }
      modbus = ModbusSearch(wire, isAccessory: side == .accessory)
    }
    let own = Set(
      side == .host
        ? description.messages.flatMap(\.framings)
        : description.requests.compactMap { if case .frame(let framing, _, _) = $0.sends { framing } else { nil } })
    let received = kinds.indices.filter { description.framings[$0].direction.isReceived(on: side) }
    order = received.filter(own.contains) + received.filter { !own.contains($0) }
    hasPairs = received.contains { if case .pairs = kinds[$0] { true } else { false } }
    interruptions = received.filter { description.framings[$0].interrupts }
    let starts = received.map { framing in
      switch kinds[framing] {
      case .layout(let plan): plan.start.first
      case .pairs(let block): block.pairs.begin.first
      case .window: nil as UInt8?
      }
    }
    firstByte = starts.allSatisfy { $0 == starts[0] } ? starts.first ?? nil : nil
  }

  /// Whether bytes are kept that may begin a frame.
  public var hasUnfinishedFrame: Bool {
    window?.hasUnfinishedFrame ?? modbus?.hasUnfinishedFrame ?? !kept.isEmpty
  }

  /// How many bytes are kept: fewer than the longest frame has.
  public var unfinishedByteCount: Int {
    window?.unfinishedByteCount ?? modbus?.unfinishedByteCount ?? kept.count
  }

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<DescribedHeader>) {
    damaged.removeAll()
    if window != nil { return decodeWindows(into: &batch) { $0.decode(bytes, into: &$1) } }
    if modbus != nil { return search { $0.decode(bytes, into: &batch) } }
    if kept.isEmpty && (!hasPairs || interruptions.isEmpty) {
      let stop = scan(bytes, into: &batch)
      kept.append(contentsOf: bytes.extracting(stop..<bytes.byteCount))
      return
    }
    kept.append(contentsOf: bytes)
    if kept.count >= needed { rescan(into: &batch) }
  }

  /// Handles silence on the line. If a whole frame with a check lies behind an unfinished one, it is delivered, and the
  /// bytes in front of it are skipped as noise.
  public mutating func idle(into batch: inout FrameBatch<DescribedHeader>) {
    damaged.removeAll()
    if window != nil { return }
    if modbus != nil { return search { $0.idle(into: &batch) } }
    guard kept.count > 1 else { return }
    let bytes = kept
    for start in 1..<bytes.count {
      for index in order {
        guard case .layout(let plan) = kinds[index], !plan.start.isEmpty, !plan.checks.isEmpty,
          case .whole = plan.probe(bytes.span.bytes, at: start), !description.framings[index].interrupts
        else { continue }
        counters.skippedBytes += UInt64(start)
        if let suspect { report(suspect, bytes.span.bytes, at: 0, batch.count) }
        damagedByteCount = max(0, damagedByteCount - start)
        drop(start)
        return rescan(into: &batch)
      }
    }
  }

  /// Gives up the unfinished frame, and looks for others in the bytes behind its start.
  public mutating func expire(into batch: inout FrameBatch<DescribedHeader>) {
    damaged.removeAll()
    if window != nil { return decodeWindows(into: &batch) { $0.expire(into: &$1) } }
    if modbus != nil { return search { $0.expire(into: &batch) } }
    guard !kept.isEmpty else { return }
    counters.skippedBytes += 1
    if let suspect {
      let bytes = kept
      report(suspect, bytes.span.bytes, at: 0, batch.count)
    }
    damagedByteCount = max(0, damagedByteCount - 1)
    drop(1)
    rescan(into: &batch)
  }

  /// Forgets everything but the counters.
  public mutating func reset() {
    window?.reset()
    modbus?.reset()
    damaged.removeAll()
    damagedByteCount = 0
    drop(kept.count)
  }

  // MARK: - The search

  private mutating func rescan(into batch: inout FrameBatch<DescribedHeader>) {
    takeInterruptions(into: &batch)
    let stop: Int
    do {
      // A local reference, which ends before `kept` changes.
      let bytes = kept
      stop = scan(bytes.span.bytes, into: &batch)
    }
    // `needed` and `searched` count from the start of the unfinished frame, so they stay valid.
    kept.removeFirst(stop)
  }

  private mutating func drop(_ count: Int) {
    kept.removeFirst(count)
    (needed, searched, suspect) = (0, (0, 0), nil)
  }

  /// Adds a frame with a wrong check, which begins at `index`, unless it lies in another one.
  private mutating func report(
    _ found: (framing: Int, check: DamagedCheck), _ bytes: RawSpan, at index: Int, _ position: Int
  ) {
    guard damagedByteCount == 0, damaged.count < 64, case .layout(let plan) = kinds[found.framing],
      !plan.start.isEmpty, let mismatch = plan.mismatch(found.check, bytes, at: index)
    else { return }
    damagedByteCount = found.check.byteCount
    var frame: [UInt8] = []
    frame.append(contentsOf: bytes.extracting(index..<(index + found.check.byteCount)))
    damaged.append(
      DamagedFrame(
        header: DescribedHeader(framing: found.framing, body: 0..<0), mismatch: mismatch, bytes: frame,
        position: position))
  }

  /// Appends all frames in `bytes` to `batch`, and returns the index of the first byte that must be kept.
  private mutating func scan(_ bytes: RawSpan, into batch: inout FrameBatch<DescribedHeader>) -> Int {
    let count = bytes.byteCount
    var index = 0
    var earlier = searched
    (searched, needed, suspect) = ((0, 0), 0, nil)
    while index < count {
      if let firstByte, bytes.byte(uncheckedAt: index) != firstByte {
        let next = ByteSearch.firstIndex(of: firstByte, in: bytes, from: index)
        counters.skippedBytes += UInt64(next - index)
        damagedByteCount = max(0, damagedByteCount - (next - index))
        index = next
        earlier = (0, 0)
        continue
      }
      var wanted: (framing: Int, byteCount: Int)?
      var outcome: FrameOutcome?
      var damage: (framing: Int, check: DamagedCheck)?
      var step = 1
      framings: for framing in order {
        switch probe(framing, bytes, at: index, searched: framing == earlier.framing ? earlier.byteCount : 0) {
        case .none: continue
        case .needs(let count):
          wanted = (framing, count)
          break framings
        case .whole(let byteCount, let start, let end):
          deliver(framing, bytes, index..<(index + byteCount), start..<end, into: &batch)
          step = byteCount
          outcome = .whole
          break framings
        case .damaged(let check):
          if damage == nil { damage = (framing, check) }
          if outcome == nil, case .layout(let plan) = kinds[framing] {
            (outcome, mismatch) = (.payloadDamaged, plan.mismatch(check, bytes, at: index))
          }
        case .broken(let reason):
          // The first framing whose start fits decides which error is counted; another framing may still fit.
          if outcome == nil { outcome = reason }
          if case .pairs(let block) = kinds[framing], reason == .payloadDamaged {
            step = block.damagedByteCount(bytes, at: index)
          }
        }
      }
      if outcome != .whole, let wanted {
        needed = wanted.byteCount
        searched = (wanted.framing, count - index)
        suspect = damage
        return index
      }
      earlier = (0, 0)
      if outcome != .whole {
        counters.skippedBytes += UInt64(step)
        if let damage { report(damage, bytes, at: index, batch.count) }
        switch outcome {
        case .payloadDamaged?: counters.payloadErrors += 1
        case .tooLong?: counters.tooLong += 1
        case nil: break
        default: counters.headerErrors += 1
        }
      }
      // A frame that was read shows that the length of the damaged one was wrong.
      damagedByteCount = outcome == .whole ? 0 : max(0, damagedByteCount - step)
      index += step
    }
    return index
  }

  private func probe(_ framing: Int, _ bytes: RawSpan, at index: Int, searched: Int) -> FrameProbe {
    switch kinds[framing] {
    case .layout(let plan): plan.probe(bytes, at: index, searched: searched)
    case .pairs(let block): block.probe(bytes, at: index)
    case .window: .none
    }
  }

  private mutating func deliver(
    _ framing: Int, _ bytes: RawSpan, _ range: Range<Int>, _ body: Range<Int>,
    into batch: inout FrameBatch<DescribedHeader>
  ) {
    counters.frames += 1
    if mismatch != nil { mismatch = nil }
    let header = DescribedHeader(framing: framing, body: body)
    guard case .layout(let plan) = kinds[framing] else {
      return batch.append(.whole, header, payload: bytes.extracting(range))
    }
    if plan.hasIgnored, let (content, body) = plan.withoutIgnored(bytes.extracting(range), body) {
      return batch.append(.whole, DescribedHeader(framing: framing, body: body), payload: content.span.bytes)
    }
    guard plan.hexadecimal != nil else {
      return batch.append(.whole, header, payload: bytes.extracting(range))
    }
    let digits = bytes.extracting((range.lowerBound + plan.start.count)..<(range.upperBound - plan.end.count))
    guard let content = plan.content(ofDigits: digits) else { return }
    batch.append(.whole, header, payload: content.span.bytes)
  }

  /// Removes frames that interrupt blocks of pairs from the kept bytes, and delivers them. It leaves out positions at
  /// which a block has its closing byte, since that byte can look like the start of such a frame.
  private mutating func takeInterruptions(into batch: inout FrameBatch<DescribedHeader>) {
    guard hasPairs, !interruptions.isEmpty else { return }
    for framing in interruptions {
      guard case .layout(let plan) = kinds[framing], let first = plan.start.first else { continue }
      let bytes = kept
      var rest: [UInt8] = []
      var (start, index) = (0, 0)
      while true {
        index = ByteSearch.firstIndex(of: first, in: bytes.span.bytes, from: index)
        guard index < bytes.count else { break }
        guard case .whole(let count, let bodyStart, let bodyEnd) = plan.probe(bytes.span.bytes, at: index),
          !isClosingByte(index, of: bytes)
        else {
          index += 1
          continue
        }
        deliver(framing, bytes.span.bytes, index..<(index + count), bodyStart..<bodyEnd, into: &batch)
        rest += bytes[start..<index]
        index += count
        start = index
      }
      guard start > 0 else { continue }
      kept = rest + bytes[start...]
      searched = (0, 0)
    }
  }

  private func isClosingByte(_ index: Int, of bytes: [UInt8]) -> Bool {
    for framing in order {
      guard case .pairs(let block) = kinds[framing] else { continue }
      let label = block.pairs.close + [block.pairs.separator]
      if index >= label.count, Array(bytes[(index - label.count)..<index]) == label { return true }
    }
    return false
  }

  private mutating func decodeWindows(
    into batch: inout FrameBatch<DescribedHeader>, _ body: (inout WindowCodec, inout FrameBatch<NoHeader>) -> Void
  ) {
    guard var codec = window else { return }
    window = nil
    windowBatch.removeAll()
    body(&codec, &windowBatch)
    let header = DescribedHeader(framing: 0, body: 0..<codec.pattern.count)
    for index in 0..<windowBatch.count {
      let range = windowBatch.payloadRange(at: index)
      batch.append(
        windowBatch.outcome(at: index), header, payload: windowBatch.payloadStore.span.bytes.extracting(range))
    }
    counters = codec.counters
    window = codec
  }
}
