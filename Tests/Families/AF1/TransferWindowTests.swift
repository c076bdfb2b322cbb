// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyAF1

/// Which pieces are sent, and again, with the test in the place of the accessory.
@Suite struct TransferWindowTests {
  private typealias Piece = TransferWindow.Piece

  private func all(_ window: inout TransferWindow) -> [Piece] {
    var pieces: [Piece] = []
    while let piece = window.next() { pieces.append(piece) }
    return pieces
  }

  // The macros can't call what changes the window.
  private func same(_ pieces: [Piece], _ expected: [Piece], at place: SourceLocation = #_sourceLocation) {
    #expect(pieces == expected, sourceLocation: place)
  }

  private func ranges(_ pieces: [Piece], _ expected: [Range<Int>], at place: SourceLocation = #_sourceLocation) {
    #expect(pieces.map(\.range) == expected, sourceLocation: place)
  }

  private func expect(
    _ kind: AccessoryError.Kind, at place: SourceLocation = #_sourceLocation,
    _ body: () throws(AccessoryError) -> Void
  ) {
    do throws(AccessoryError) {
      try body()
      Issue.record("nothing was thrown", sourceLocation: place)
    } catch {
      #expect(error.kind == kind, sourceLocation: place)
    }
  }

  private func some(_ piece: Piece?, at place: SourceLocation = #_sourceLocation) throws -> Piece {
    try #require(piece, sourceLocation: place)
  }

  private func none(_ piece: Piece?, at place: SourceLocation = #_sourceLocation) {
    #expect(piece == nil, sourceLocation: place)
  }

  @Test func piecesAreSentInOrderWithinTheWindow() throws {
    var window = TransferWindow(size: 10, from: 0, pieceSize: 3, window: 2)
    let first = all(&window)
    #expect(first.map(\.range) == [0..<3, 3..<6])
    same(try window.answered(first[0], 3), [])
    let third = try some(window.next())
    #expect(third.range == 6..<9)
    none(window.next())
    same(try window.answered(first[1], 6), [])
    same(try window.answered(third, 9), [])
    let last = try some(window.next())
    #expect(last.range == 9..<10)
    #expect(!window.isComplete)
    same(try window.answered(last, 10), [])
    #expect(window.isComplete && window.acknowledged == 10)
  }

  @Test(arguments: [0, 10]) func aFileWithNothingToSendIsComplete(size: Int) {
    var window = TransferWindow(size: size, from: size, pieceSize: 3, window: 2)
    #expect(window.isComplete)
    none(window.next())
  }

  @Test func oneAnswerStandsForThoseBeforeIt() throws {
    var window = TransferWindow(size: 100, from: 50, pieceSize: 10, window: 3)
    let pieces = all(&window)
    // The answers to the first two were lost.
    same(try window.answered(pieces[2], 80), [pieces[0], pieces[1]])
    #expect(window.acknowledged == 80)
    ranges(all(&window), [80..<90, 90..<100])
    // What comes of those is late.
    same(try window.answered(pieces[0], 60), [])
    #expect(window.acknowledged == 80)
  }

  @Test func aLostPieceIsSentAgainWithWhatFollowsAndTheWindowIsKept() throws {
    var window = TransferWindow(size: 100, from: 0, pieceSize: 10, window: 4)
    let pieces = all(&window)
    same(try window.answered(pieces[0], 10), [])
    _ = window.next()  // 40..<50
    // 10..<20 was lost: what came behind it was not taken.
    same(try window.answered(pieces[2], 10), [pieces[1]])
    // Two are still on the line, so two may go.
    ranges(all(&window), [10..<20, 20..<30])
    // They were sent behind the lost one; that says nothing new.
    same(try window.answered(pieces[3], 10), [])
    ranges(all(&window), [30..<40])
    #expect(window.acknowledged == 10)
  }

  @Test func anAccessoryThatKeepsWhatComesOutOfOrderIsNotSentItAgain() throws {
    var window = TransferWindow(size: 50, from: 0, pieceSize: 10, window: 3)
    let pieces = all(&window)
    same(try window.answered(pieces[1], 0), [pieces[0]])
    let again = all(&window)
    #expect(again.map(\.range) == [0..<10, 10..<20])
    let done = try window.answered(again[0], 30)
    #expect(done.contains(again[1]))
    ranges(all(&window), [30..<40, 40..<50])
  }

  @Test func whatNobodyAnsweredIsSentAgain() throws {
    var window = TransferWindow(size: 20, from: 0, pieceSize: 10, window: 1)
    for _ in 0..<2 {
      let piece = try some(window.next())
      #expect(piece.range == 0..<10)
      try window.unanswered(piece)
    }
    let piece = try some(window.next())
    expect(.timedOut) { () throws(AccessoryError) in try window.unanswered(piece) }
  }

  /// The later answer comes first: the earlier one takes nothing back.
  @Test func anEarlierAnswerTakesNothingBack() throws {
    var window = TransferWindow(size: 100, from: 0, pieceSize: 10, window: 3)
    let pieces = all(&window)
    // The first was lost; the second was not taken; the first came again.
    same(try window.answered(pieces[0], 10), [])
    _ = try window.answered(pieces[1], 0)
    #expect(window.acknowledged == 10)
    ranges(all(&window), [10..<20, 20..<30])
  }

  @Test func anAccessoryThatHasLostBytesIsToldOfTheFileAgain() throws {
    var window = TransferWindow(size: 100, from: 0, pieceSize: 10, window: 1)
    let piece = try some(window.next())
    same(try window.answered(piece, 10), [])
    var error: AccessoryError?
    for _ in 0...(2 * TransferWindow.setbackLimit) {
      guard let piece = window.next() else { break }
      do throws(AccessoryError) { _ = try window.answered(piece, 0) } catch let failure {
        error = failure
        break
      }
      #expect(window.acknowledged == 10)
    }
    #expect(error?.kind == .timedOut)
  }

  @Test(arguments: [-1, 101, Int.max]) func whatThereIsNotIsNotAskedFor(offset: Int) throws {
    var window = TransferWindow(size: 100, from: 0, pieceSize: 10, window: 1)
    let piece = try some(window.next())
    expect(.badData) { () throws(AccessoryError) in _ = try window.answered(piece, offset) }
  }

  /// Whatever is lost of pieces and answers: all bytes arrive, in order, and never more are under way than may be.
  @Test(arguments: 1...200) func allBytesArriveWhateverIsLost(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let size = Int.random(in: 0...200, using: &random)
    var window = TransferWindow(
      size: size, from: 0, pieceSize: Int.random(in: 1...20, using: &random),
      window: Int.random(in: 1...8, using: &random))
    var arrived = 0
    var line: [(piece: Piece, answer: Int)] = []
    var steps = 0
    while !window.isComplete {
      steps += 1
      try #require(steps < 10_000)
      while let piece = window.next() {
        #expect(window.pieces.count <= window.window)
        // Lost on its way in one case of ten.
        if UInt64.random(in: 0..<10, using: &random) > 0 {
          if piece.range.contains(arrived) { arrived = piece.range.upperBound }
          if UInt64.random(in: 0..<10, using: &random) > 0 { line.append((piece, arrived)) }
        }
      }
      if line.isEmpty {
        // The link sends it again with the same number, until it is answered.
        let piece = try #require(window.pieces.first)
        if piece.range.contains(arrived) { arrived = piece.range.upperBound }
        _ = try window.answered(piece, arrived)
      } else {
        let (piece, answer) = line.removeFirst()
        _ = try window.answered(piece, answer)
      }
    }
    #expect(arrived == size)
  }
}
