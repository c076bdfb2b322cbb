// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The queue of bytes for one client. It consists of pieces; each piece is offered to the client as a whole.
struct Backlog {
  private struct Piece {
    var bytes: [UInt8]
    var isData: Bool
  }

  private var pieces: Deque<Piece> = []
  /// The number of queued bytes.
  private(set) var count = 0
  /// Whether the client misses bytes, and that was reported.
  var isSkipping = false
  /// Whether the bytes wait even if the client takes them, because other programs could still open its terminal.
  var isHeld = false

  /// Small pieces are joined up to this size in bytes, so that a device that sends single bytes doesn't cost a piece
  /// for each.
  private static let pieceSize = 16_384

  var isEmpty: Bool { pieces.isEmpty }
  var first: [UInt8]? { pieces.first?.bytes }

  /// Appends bytes of the device, or, with `isData` false, a reply to the client.
  mutating func append(_ bytes: [UInt8], isData: Bool = true) {
    guard !bytes.isEmpty else { return }
    count += bytes.count
    if let last = pieces.last, last.isData == isData, last.bytes.count + bytes.count <= Self.pieceSize {
      pieces[pieces.count - 1].bytes.append(contentsOf: bytes)
    } else {
      pieces.append(Piece(bytes: bytes, isData: isData))
    }
  }

  mutating func removeFirst() {
    if let piece = pieces.popFirst() { count -= piece.bytes.count }
  }

  /// Removes the device's bytes, but not the replies.
  mutating func removeData() {
    pieces.removeAll { $0.isData }
    count = pieces.reduce(0) { $0 + $1.bytes.count }
  }

  mutating func removeAll() {
    pieces.removeAll()
    count = 0
  }
}
