// SPDX-License-Identifier: Apache-2.0

/// Frames that a connection has no room for yet, in order, each with the number of a transport's bytes in it.
struct FrameBacklog: Sendable {
  private var frames: [(bytes: [UInt8], count: Int)] = []
  private var size = 0

  /// The most bytes that may wait. Written bytes and requests stay far below this; a server that asks endlessly and reads no replies would
  /// fill the memory.
  static let limit = 131_072

  var isEmpty: Bool { frames.isEmpty }

  /// Sends a frame with `count` bytes of `output` in it, or keeps it while `isHeld` or others wait. Returns false when too many wait.
  mutating func send(_ bytes: [UInt8], count: Int, of output: OutputQueue, by base: OutputQueue, isHeld: Bool) -> Bool {
    guard !bytes.isEmpty else { return true }
    if frames.isEmpty, !isHeld, base.offer(bytes) != .full {
      output.wrote(count)
      return true
    }
    guard size + bytes.count <= Self.limit else { return false }
    frames.append((bytes, count))
    size += bytes.count
    return true
  }

  /// Sends what the connection has room for. Returns whether nothing waits any more.
  mutating func flush(of output: OutputQueue, by base: OutputQueue) -> Bool {
    while let (bytes, count) = frames.first {
      if base.offer(bytes) == .full { return false }
      frames.removeFirst()
      size -= bytes.count
      output.wrote(count)
    }
    return true
  }

  mutating func removeAll() { (frames, size) = ([], 0) }
}
