// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Bytes that wait for one client, in pieces that are offered to it whole.
struct Backlog {
  private var pieces: Deque<[UInt8]> = []
  /// All bytes.
  private(set) var count = 0

  /// Small pieces are joined up to this, so that a device that sends single bytes costs no more than their number.
  private static let pieceSize = 16_384

  var isEmpty: Bool { pieces.isEmpty }
  var first: [UInt8]? { pieces.first }

  mutating func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    if let last = pieces.last, last.count + bytes.count <= Self.pieceSize {
      pieces[pieces.count - 1].append(contentsOf: bytes)
    } else {
      pieces.append(bytes)
    }
  }

  mutating func removeFirst() {
    if let piece = pieces.popFirst() { count -= piece.count }
  }

  mutating func removeAll() {
    pieces.removeAll()
    count = 0
  }
}
