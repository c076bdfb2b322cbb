// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Bytes that wait for one client, in pieces that are offered to it whole.
struct Backlog {
  private struct Piece {
    var bytes: [UInt8]
    var isData: Bool
  }

  private var pieces: Deque<Piece> = []
  /// All bytes.
  private(set) var count = 0

  /// Small pieces are joined up to this, so that a device that sends single bytes costs no more than their number.
  private static let pieceSize = 16_384

  var isEmpty: Bool { pieces.isEmpty }
  var first: [UInt8]? { pieces.first?.bytes }

  /// Appends what the device sent, or, unless `isData`, an answer.
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

  /// Drops what the device sent; answers stay.
  mutating func removeData() {
    pieces.removeAll { $0.isData }
    count = pieces.reduce(0) { $0 + $1.bytes.count }
  }

  mutating func removeAll() {
    pieces.removeAll()
    count = 0
  }
}
