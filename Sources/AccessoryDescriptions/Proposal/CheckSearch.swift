// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Finds the checksum of frames, by trying all checksums that descriptions can name.
struct CheckSearch {
  /// A check that was found, and the bytes behind it, which are the same in all frames.
  struct Found {
    var check: FramingProposal.FoundCheck
    var end: [UInt8]
  }

  /// How many bytes at the beginning a check may leave out.
  private static let leftOut = 6

  private let frames: [[UInt8]]
  private let shortest: Int

  /// A search in different frames.
  init(_ frames: [[UInt8]]) {
    self.frames = frames
    shortest = frames.map(\.count).min() ?? 0
  }

  /// The check that is right in at least four of five frames, as some may be damaged. Of several checks, one that
  /// covers more bytes comes first. Nil if none fits, or if the frames are too few or too similar to decide. For a
  /// single frame only checks of several bytes are tried that cover all bytes, or all but the first: that is a guess.
  var found: Found? {
    // If the frame has few different bytes, some sum fits by accident.
    guard frames.count > 1 || Set(frames.first ?? []).count > 5 else { return nil }
    for endCount in 0...2 where endCount == 0 || hasCommonEnd(endCount) {
      for (_, algorithm) in Self.algorithms {
        let engine = CheckEngine(ProtocolDescription.Check(algorithm, covers: 0...0))
        let last = shortest - endCount - algorithm.byteCount - 1
        guard last >= 0, frames.count > 1 || algorithm.byteCount > 1 else { continue }
        for from in 0...min(frames.count > 1 ? Self.leftOut : 1, last) {
          if let order = order(of: engine, from: from, endCount: endCount) {
            return Found(
              check: .init(algorithm: algorithm, order: order, from: from),
              end: Array(frames[0].suffix(endCount)))
          }
        }
      }
    }
    return nil
  }

  /// Longer checks come first: the low byte of a sum in two bytes can look like a sum in one.
  private static let algorithms = ProtocolDescription.Check.Algorithm.named.sorted {
    $0.algorithm.byteCount > $1.algorithm.byteCount
  }

  private func hasCommonEnd(_ count: Int) -> Bool {
    guard shortest > count, let end = frames.first?.suffix(count) else { return false }
    return frames.allSatisfy { $0.suffix(count) == end }
  }

  private func order(of engine: CheckEngine, from: Int, endCount: Int) -> ByteOrder? {
    let count = engine.check.algorithm.byteCount
    let orders: [ByteOrder] = count == 1 ? [.bigEndian] : [.bigEndian, .littleEndian]
    // It is no accident if two different checks of several bytes are right, or three of one byte.
    let needed = count == 1 ? 3 : min(2, frames.count)
    for order in orders {
      var failures = 0
      var checks: Set<UInt32> = []
      for frame in frames {
        let place = frame.count - endCount - count
        let value = engine.value(over: frame.span.bytes.extracting(from..<place))
        if frame.span.bytes.integer(at: place, byteCount: count, order) == value {
          checks.insert(value)
        } else {
          failures += 1
          if failures * 5 > frames.count { break }
        }
      }
      if failures * 5 <= frames.count, checks.count >= needed { return order }
    }
    return nil
  }
}
