// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds frames in bytes, by trying with which byte they begin and how their length is determined.
///
/// The work is bounded: at most 12 starts, some 500 rules for the length, and one pass over the bytes for each
/// combination. A pass ends early when half of the bytes are outside of frames. Checksums are tried for the best 40
/// passes only.
struct FrameSearch {
  /// With how many different frames a checksum is tried.
  static let sampleLimit = 32
  private static let frameLimit = 512
  private static let smallest = 3

  private let bytes: [UInt8]
  private let starts: [UInt8]

  /// A search in `bytes`. `begins` are the first bytes of the pieces in which they arrived.
  init(_ bytes: [UInt8], _ begins: [UInt8]) {
    self.bytes = bytes
    var starts = bytes.first.map { [$0] } ?? []
    for byte in Self.mostFrequent(begins).prefix(6) + Self.mostFrequent(bytes).prefix(6) where !starts.contains(byte) {
      starts.append(byte)
    }
    self.starts = Array(starts.prefix(12))
  }

  private static func mostFrequent(_ bytes: [UInt8]) -> [UInt8] {
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    return (0..<256).filter { counts[$0] > 1 }.sorted { (counts[$1], $0) < (counts[$0], $1) }.map { UInt8($0) }
  }

  /// A way to divide the bytes into frames, with its result.
  private struct Walk {
    var start: UInt8
    var extent: FramingProposal.Extent
    var frames: [Range<Int>] = []
    var covered = 0
    var missed = 0
  }

  /// The best proposal; nil if none puts at least 60 of 100 bytes into frames.
  var best: FramingProposal? {
    guard bytes.count >= 2 * Self.smallest else { return nil }
    var walks: [Walk] = []
    for start in starts {
      for extent in Self.extents {
        let walk = walk(start, extent)
        if walk.frames.count >= 2, walk.covered * 10 >= bytes.count * 6 { walks.append(walk) }
      }
    }
    // Sorting is stable: of equal walks, the one that was tried first stays first.
    walks.sort { ($0.covered, $0.frames.count) > ($1.covered, $1.frames.count) }
    var best: (rank: Rank, proposal: FramingProposal)?
    // If a device repeats one frame, no check can be proven. Other ways to divide such bytes give frames that differ a
    // little, so that checks seem to fit; they are left out then.
    let isSame = walks.prefix(40).contains { isRepetition($0) && $0.covered * 10 >= bytes.count * 8 }
    for walk in walks.prefix(40) where !isSame || isRepetition(walk) {
      guard let next = judged(walk) else { continue }
      if let best, !(best.rank < next.rank) { continue }
      best = next
    }
    return best?.proposal
  }

  private static let extents: [FramingProposal.Extent] = {
    var extents: [FramingProposal.Extent] = []
    for format in [
      FramingProposal.NumberFormat(byteCount: 1), .init(byteCount: 2), .init(byteCount: 2, order: .littleEndian),
    ] {
      for place in 1...6 {
        let behind = place + format.byteCount
        for added in [0] + Array(behind...(behind + 10)) {
          extents.append(.length(place: place, format, added: added))
        }
      }
    }
    return extents + (smallest...256).map { .fixed($0) }
  }()

  private func walk(_ start: UInt8, _ extent: FramingProposal.Extent) -> Walk {
    var walk = Walk(start: start, extent: extent)
    var index = 0
    while index < bytes.count {
      if bytes[index] == start, let size = size(extent, at: index), size >= Self.smallest, size <= Self.frameLimit,
        index + size == bytes.count || (index + size < bytes.count && bytes[index + size] == start)
      {
        walk.frames.append(index..<(index + size))
        walk.covered += size
        index += size
      } else {
        index += 1
        walk.missed += 1
        if walk.missed * 2 > bytes.count { break }
      }
    }
    return walk
  }

  /// Whether there are at least three frames, all the same.
  private func isRepetition(_ walk: Walk) -> Bool {
    guard walk.frames.count >= 3, let first = walk.frames.first else { return false }
    return walk.frames.allSatisfy { $0.count == first.count && bytes[$0].elementsEqual(bytes[first]) }
  }

  private func size(_ extent: FramingProposal.Extent, at index: Int) -> Int? {
    switch extent {
    case .fixed(let size): return size
    case .line: return nil
    case .length(let place, let format, let added):
      let low = index + place
      guard low + format.byteCount <= bytes.count else { return nil }
      if format.byteCount == 1 { return Int(bytes[low]) + added }
      let (first, second) = (Int(bytes[low]), Int(bytes[low + 1]))
      return (format.order == .bigEndian ? first << 8 | second : second << 8 | first) + added
    }
  }

  // MARK: - Ranking

  /// A check counts most, then the number of bytes in frames, then the number of frames, then how usual the length is.
  private struct Rank: Comparable {
    var hasCheck: Bool
    var covered: Int
    var frameCount: Int
    var usualness: Int

    static func < (left: Rank, right: Rank) -> Bool {
      (left.hasCheck ? 1 : 0, left.covered, left.frameCount, left.usualness)
        < (right.hasCheck ? 1 : 0, right.covered, right.frameCount, right.usualness)
    }
  }

  private func judged(_ walk: Walk) -> (rank: Rank, proposal: FramingProposal)? {
    var samples: [[UInt8]] = []
    var known: Set<[UInt8]> = []
    for range in walk.frames where samples.count < Self.sampleLimit {
      let frame = Array(bytes[range])
      if known.insert(frame).inserted { samples.append(frame) }
    }
    let found = CheckSearch(samples).found
    let end = found?.end ?? Self.commonEnd(samples)
    let checkCount = found?.check.algorithm.byteCount ?? 0
    let hasOneSize = Set(walk.frames.map(\.count)).count == 1
    let usualness: Int
    switch walk.extent {
    case .fixed, .line: usualness = 20
    case .length(let place, let format, let added):
      let behind = place + format.byteCount
      // A check can't begin in the middle of the length field.
      if let from = found?.check.from, from > place, from < behind { return nil }
      let isUsual = [0, behind, behind + checkCount, behind + end.count, behind + checkCount + end.count].contains(
        added)
      // If all frames have the same size, any byte that never changes could be taken for the length.
      if hasOneSize, !isUsual { return nil }
      usualness = (isUsual ? 30 : 10) - format.byteCount
    }
    let proposal = FramingProposal(
      start: Self.start(walk, samples, found?.check), extent: walk.extent, check: found?.check, end: end,
      samples: samples, frameCount: walk.frames.count, framedByteCount: walk.covered, byteCount: bytes.count)
    let rank = Rank(
      hasCheck: found != nil, covered: walk.covered, frameCount: walk.frames.count, usualness: usualness)
    return (rank, proposal)
  }

  /// The first byte, and the second if it is always the same. Small numbers are left out: they are probably a command,
  /// an address or a length.
  private static func start(
    _ walk: Walk, _ samples: [[UInt8]], _ check: FramingProposal.FoundCheck?
  ) -> [UInt8] {
    var isFree = true
    if case .length(let place, _, _) = walk.extent { isFree = place > 1 }
    guard isFree, samples.count > 1, samples.allSatisfy({ $0.count > 8 }), check?.from != 1,
      let second = samples.first?[1], second >= 0x10,
      samples.allSatisfy({ $0[1] == second })
    else { return [walk.start] }
    return [walk.start, second]
  }

  /// The last two bytes if they are CR LF, or the last byte if it is always the same.
  private static func commonEnd(_ samples: [[UInt8]]) -> [UInt8] {
    guard samples.count > 2, let first = samples.first else { return [] }
    if samples.allSatisfy({ $0.suffix(2) == [13, 10] }) { return [13, 10] }
    let last = first.suffix(1)
    return last != [0] && samples.allSatisfy { $0.suffix(1) == last } ? Array(last) : []
  }
}
