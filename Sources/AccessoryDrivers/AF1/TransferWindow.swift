// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Which pieces of a file are to be sent, and how much of it the accessory has: no I/O and no clock.
///
/// Up to `window` pieces are under way. Each answer says where the accessory wants to go on, so that one answer stands
/// for those before it that were lost. When it says that a piece was not taken, one before it was lost: sending goes on
/// there. What was sent behind that place is not given up but waited for, as it is still on the line, and sending it
/// again at once would exceed the window.
struct TransferWindow: Sendable {
  /// Bytes that are sent together.
  struct Piece: Sendable, Hashable {
    var range: Range<Int>
    /// Tells it from the same bytes sent earlier.
    var number: Int
    /// How often sending had gone back when it was sent.
    var round: Int
  }

  let size: Int
  let pieceSize: Int
  let window: Int
  /// All bytes before this are with the accessory.
  private(set) var acknowledged: Int
  private(set) var pieces: [Piece] = []
  private var position: Int
  private var round = 0
  private var number = 0
  /// The most that was ever acknowledged, and the setbacks since then.
  private var furthest: Int
  private var setbacks = 0

  /// Setbacks without a step forward, after which there is no sense in going on.
  static let setbackLimit = 16

  /// A transfer that goes on at `start`. All numbers of bytes are at least 0, and `pieceSize` and `window` at least 1.
  init(size: Int, from start: Int, pieceSize: Int, window: Int) {
    self.size = size
    self.pieceSize = max(1, pieceSize)
    self.window = max(1, window)
    (acknowledged, position, furthest) = (start, start, start)
  }

  /// Whether the accessory has all.
  var isComplete: Bool { acknowledged == size && pieces.isEmpty }

  /// The next piece to be sent; nil while none may be.
  mutating func next() -> Piece? {
    guard pieces.count < window, position < size else { return nil }
    let end = min(size, position + pieceSize)
    number += 1
    let piece = Piece(range: position..<end, number: number, round: round)
    position = end
    pieces.append(piece)
    return piece
  }

  /// The accessory has answered a piece: it wants to go on at `offset`. Returns the pieces that need no longer be waited
  /// for. Throws `badData` when it wants what there isn't, or nothing of what it is sent.
  mutating func answered(_ piece: Piece, _ offset: Int) throws(AccessoryError) -> [Piece] {
    guard let index = pieces.firstIndex(of: piece) else { return [] }
    pieces.remove(at: index)
    guard (0...size).contains(offset) else {
      throw AccessoryError(.badData, "the accessory asks for byte \(offset) of a file that has \(size)")
    }
    // Answers may get here in another order than they were given. An accessory that really has less than before says so
    // when it is told of the file once more, which follows too many setbacks.
    acknowledged = max(acknowledged, offset)
    if piece.round == round, offset < piece.range.upperBound, acknowledged < piece.range.upperBound {
      try setBack()
      // The lost one would only be sent again where it is; it has its place in the new order.
      let place = acknowledged
      return forget { $0.range.lowerBound <= place }
    }
    if acknowledged > furthest { (furthest, setbacks) = (acknowledged, 0) }
    position = max(position, acknowledged)
    let done = acknowledged
    return forget { $0.range.upperBound <= done }
  }

  /// Nobody has answered a piece: sending goes on where the accessory was last. Throws `timedOut` when that has
  /// happened too often.
  mutating func unanswered(_ piece: Piece) throws(AccessoryError) {
    guard let index = pieces.firstIndex(of: piece) else { return }
    pieces.remove(at: index)
    // Each has been tried several times by the link: the third says that nobody is there.
    if piece.round == round { try setBack(by: Self.setbackLimit / 2) }
  }

  private mutating func setBack(by weight: Int = 1) throws(AccessoryError) {
    setbacks += weight
    guard setbacks <= Self.setbackLimit else {
      throw AccessoryError(
        .timedOut, "the file doesn't get on: the accessory has not taken byte \(furthest) in many tries")
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
