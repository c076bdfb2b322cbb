// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Sends the pieces of a file, several at a time, until the accessory has acknowledged all of them.
final class TransferFlight {
  private struct Landing: Sendable {
    var piece: TransferWindow.Piece
    var result: Result<Int, AccessoryError>
  }

  private let link: Link<AF1Exchange>
  private let source: any FileSource
  private var window: TransferWindow
  private var tasks: [TransferWindow.Piece: Task<Void, Never>] = [:]
  private let landings: AsyncStream<Landing>
  private let landed: AsyncStream<Landing>.Continuation
  /// Bytes that were read from the source before they are sent, and the offset of the first.
  private var ahead: (start: Int, bytes: [UInt8]) = (0, [])

  /// How many bytes are read at a time. A source that is fetched piece by piece, from another process for example,
  /// learns the progress from the offsets that are read, so this isn't larger.
  private static let readAhead = 1 << 14

  init(link: Link<AF1Exchange>, source: any FileSource, window: TransferWindow) {
    self.link = link
    self.source = source
    self.window = window
    // Unbounded, but holds at most one result for each piece in flight, which the window bounds.
    (landings, landed) = AsyncStream<Landing>.makeStream()
  }

  deinit { for task in tasks.values { task.cancel() } }

  /// Sends the pieces, and calls `acknowledged` with the number of acknowledged bytes whenever it changes. Throws what
  /// the link and `TransferWindow` throw, and `cancelled` when the task is cancelled.
  func run(_ acknowledged: (Int) -> Void) async throws(AccessoryError) {
    var iterator = landings.makeAsyncIterator()
    var known = window.acknowledged
    while !window.isComplete {
      while let piece = window.next() { try await send(piece) }
      guard let landing = await iterator.next(), !Task.isCancelled else {
        throw AccessoryError(.cancelled, "a transfer to \(link.label) was cancelled")
      }
      try take(landing.piece, landing.result, isAwaited: tasks.removeValue(forKey: landing.piece) != nil)
      if window.acknowledged != known {
        known = window.acknowledged
        acknowledged(known)
      }
    }
  }

  /// Handles the result of a piece's request. When `isAwaited` is false, the request was cancelled here. A request that
  /// was cancelled although it is awaited was cancelled by the closing of the link: no answer will come.
  private func take(
    _ piece: TransferWindow.Piece, _ result: Result<Int, AccessoryError>, isAwaited: Bool
  ) throws(AccessoryError) {
    switch result {
    case .success(let offset):
      for done in try window.answered(piece, offset) { tasks.removeValue(forKey: done)?.cancel() }
    case .failure(let error):
      switch error.kind {
      case .timedOut: try window.unanswered(piece)
      case .cancelled where !isAwaited: break
      default: throw error
      }
    }
  }

  private func send(_ piece: TransferWindow.Piece) async throws(AccessoryError) {
    let bytes = try await bytes(piece.range)
    var payload: [UInt8] = []
    payload.reserveCapacity(bytes.count + 4)
    AF1TransferDataRequest(offset: UInt32(piece.range.lowerBound), data: bytes).encode(into: &payload)
    let request = AF1Request(.transferData, payload: payload, largestReply: 16, mayOverlap: true)
    tasks[piece] = Self.ask(link, request) { [landed] in landed.yield(Landing(piece: piece, result: $0)) }
  }

  private static func ask(
    _ link: Link<AF1Exchange>, _ request: AF1Request,
    _ body: @escaping @Sendable (Result<Int, AccessoryError>) -> Void
  ) -> Task<Void, Never> {
    Task { body(await offset(link, request)) }
  }

  private static func offset(_ link: Link<AF1Exchange>, _ request: AF1Request) async -> Result<Int, AccessoryError> {
    do throws(AccessoryError) {
      return try offset(try await link.request(request), link.label)
    } catch {
      return .failure(error)
    }
  }

  private static func offset(_ reply: AF1Message, _ label: String) throws(AccessoryError) -> Result<Int, AccessoryError>
  {
    do throws(AF1PayloadError) {
      return .success(Int(clamping: try AF1TransferDataReply(decoding: reply.payload).nextOffset))
    } catch {
      throw AccessoryError(.badData, "\(label) sent an invalid reply to TRANSFER_DATA: \(error)")
    }
  }

  private func bytes(_ range: Range<Int>) async throws(AccessoryError) -> [UInt8] {
    let end = ahead.start + ahead.bytes.count
    if range.lowerBound < ahead.start || range.upperBound > end {
      let stop = min(window.size, range.lowerBound + max(Self.readAhead, range.count))
      ahead = (range.lowerBound, try await source.bytes(at: range.lowerBound, count: stop - range.lowerBound))
    }
    let start = range.lowerBound - ahead.start
    return Array(ahead.bytes[start..<(start + range.count)])
  }
}
