// SPDX-License-Identifier: Apache-2.0

/// Computes a checksum of many overlapping ranges of one stream, in a time that does not grow with their length.
///
/// The state after a range follows from the states after two longer runs with a common start. So the state is stored
/// every `ChecksumEngine.blockByteCount` bytes, and a range costs only the bytes at its two ends and one shift. A
/// stream of false headers, each of which claims a long payload, then costs little more than any other.
package struct ChecksumCheckpoints: Sendable {
  /// How many bytes checkpoints span before they start anew. The checkpoints take a thirty-second of that.
  private let reach: Int
  /// The position in the stream of the first checkpoint.
  private var origin = 0
  /// The state at each checkpoint; it starts as zero at the first.
  private var states: [UInt32] = []

  /// Checkpoints for ranges of at most `longestRange` bytes.
  package init(longestRange: Int) { reach = 4 * longestRange }

  /// Forgets the stream.
  package mutating func reset() { states.removeAll(keepingCapacity: true) }

  /// The state after the bytes in `range`, if it was `state` before them.
  ///
  /// `base` is the position in the stream of the first byte of `bytes`. The same position must hold the same byte in
  /// every call until `reset()`.
  package mutating func advance(
    _ state: UInt32, over range: Range<Int>, in bytes: RawSpan, base: Int, _ engine: ChecksumEngine
  ) -> UInt32 {
    let spacing = ChecksumEngine.blockByteCount
    let start = base + range.lowerBound
    let end = base + range.upperBound
    var last = origin + (states.count - 1) * spacing
    if states.isEmpty || last < start || origin - start >= spacing || start - origin > reach {
      states.removeAll(keepingCapacity: true)
      states.append(0)
      origin = start
      last = start
    }
    while end - last >= spacing {
      let block = bytes.extracting((last - base)..<(last - base + spacing))
      states.append(engine.advance(states[states.count - 1], over: block))
      last += spacing
    }
    let first = start <= origin ? 0 : (start - origin + spacing - 1) / spacing
    let final = (end - origin) / spacing
    guard first < final else { return engine.advance(state, over: bytes.extracting(range)) }
    let firstIndex = origin + first * spacing - base
    let finalIndex = origin + final * spacing - base
    let before = engine.advance(state, over: bytes.extracting(range.lowerBound..<firstIndex))
    let carried = engine.shift(engine.difference(before, states[first]), blocks: final - first)
    return engine.advance(
      engine.sum(states[final], carried), over: bytes.extracting(finalIndex..<range.upperBound))
  }
}
