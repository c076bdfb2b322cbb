// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// A sliding window over a file: decides which piece is sent next, and how much the accessory has acknowledged. Has no
/// I/O and no clock.
///
/// Up to `window` pieces are in flight. Each answer holds the offset that the accessory expects next, so one answer
/// also acknowledges earlier pieces whose answers were lost. When an answer shows that its piece was not taken, an
/// earlier piece was lost, and sending goes back to the expected offset. The pieces behind that offset stay in flight
/// until they are answered: they are still on the line, and sending them again at once would exceed the window.
struct TransferWindow: Sendable {
  /// A range of bytes that is sent in one request.
  struct Piece: Sendable, Hashable {
    var range: Range<Int>
    /// Distinguishes this piece from an earlier one with the same bytes.
    var number: Int
    /// The number of setbacks before the piece was sent.
    var round: Int
  }

  let size: Int
  let pieceSize: Int
  let window: Int
  /// The accessory has all bytes before this offset.
  private(set) var acknowledged: Int
  private(set) var pieces: [Piece] = []
  private var position: Int
  private var round = 0
  private var number = 0
  /// The highest offset that was ever acknowledged, and the weight of the setbacks since then.
  private var furthest: Int
  private var setbacks = 0

  /// The weight of setbacks without progress after which the transfer fails.
  static let setbackLimit = 16

  /// A transfer that starts at offset `start`. Offsets and sizes are at least 0; `pieceSize` and `window` are at least 1.
  init(size: Int, from start: Int, pieceSize: Int, window: Int) {
    self.size = size
    self.pieceSize = max(1, pieceSize)
    self.window = max(1, window)
    (acknowledged, position, furthest) = (start, start, start)
  }

  /// Whether the accessory has acknowledged the whole file, and no piece is in flight.
  var isComplete: Bool { acknowledged == size && pieces.isEmpty }

  /// The next piece to send; nil while the window is full, or when the whole file was sent.
  mutating func next() -> Piece? {
    guard pieces.count < window, position < size else { return nil }
    let end = min(size, position + pieceSize)
    number += 1
    let piece = Piece(range: position..<end, number: number, round: round)
    position = end
    pieces.append(piece)
    return piece
  }

  /// Handles the answer to a piece: the accessory expects the byte at `offset` next. Returns the pieces whose answers need no longer
  /// be awaited. Throws `badData` when the offset is outside the file, and `timedOut` after too many setbacks.
  mutating func answered(_ piece: Piece, _ offset: Int) throws(AccessoryError) -> [Piece] {
    guard let index = pieces.firstIndex(of: piece) else { return [] }
    pieces.remove(at: index)
    guard (0...size).contains(offset) else {
      throw AccessoryError(.badData, "the accessory asks for byte \(offset) of a file of \(Amount.bytes(size))")
    }
    // Answers may arrive out of order, so the offset never goes down. If the accessory really has less than before, it
    // says so when the file is announced again, which happens after too many setbacks.
    acknowledged = max(acknowledged, offset)
    if piece.round == round, offset < piece.range.upperBound, acknowledged < piece.range.upperBound {
      try setBack()
      // The lost piece will be sent again at `acknowledged`, so neither it nor an earlier one is awaited any longer.
      let place = acknowledged
      return forget { $0.range.lowerBound <= place }
    }
    if acknowledged > furthest { (furthest, setbacks) = (acknowledged, 0) }
    position = max(position, acknowledged)
    let done = acknowledged
    return forget { $0.range.upperBound <= done }
  }

  /// Handles a piece without an answer: sending goes back to the last acknowledged offset. Throws `timedOut` after too many setbacks.
  mutating func unanswered(_ piece: Piece) throws(AccessoryError) {
    guard let index = pieces.firstIndex(of: piece) else { return }
    pieces.remove(at: index)
    // The link has already tried each piece several times, so this counts for half the limit: the third one is too many.
    if piece.round == round { try setBack(by: Self.setbackLimit / 2) }
  }

  private mutating func setBack(by weight: Int = 1) throws(AccessoryError) {
    setbacks += weight
    guard setbacks <= Self.setbackLimit else {
      throw AccessoryError(
        .timedOut, "the file transfer is stuck: the accessory did not accept byte \(furthest) after many tries")
    }
    round += 1
    position = acknowledged
  }

  private mutating func forget(_ isDone: (Piece) -> Bool) -> [Piece] {
    let done = pieces.filter(isDone)
    if !done.isEmpty { pieces.removeAll(where: isDone) }
    return done
  }
}
