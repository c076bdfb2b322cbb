// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// A file that is sent to an accessory and requested from a client piece by piece. One piece is buffered.
final class SuppliedFile: FileSource {
  private struct State {
    /// The piece that was received last.
    var bytes: [UInt8] = []
    var offset = 0
    /// The request to the client that waits for an answer.
    var wanted: (offset: Int, count: Int, continuation: AsyncStream<[UInt8]>.Continuation)?
    /// The number of bytes that have arrived at the accessory, as far as is known.
    var done = 0
  }

  let count: Int
  let crc32: UInt32?
  /// The client's name for the transfer.
  let name: String
  private let answers: ReplySender<Bridge.SendFile.Reply>
  private let clock: any TimerClock
  private let state = Locked(State())

  /// The size of a piece in bytes. In the client's message a piece has two hexadecimal digits per byte.
  static let piece = 8_192
  /// How long a client may take to supply a piece.
  static let patience = Duration.seconds(60)

  init(count: Int, crc32: UInt32?, name: String, answers: ReplySender<Bridge.SendFile.Reply>, clock: any TimerClock) {
    self.count = count
    self.crc32 = crc32
    self.name = name
    self.answers = answers
    self.clock = clock
  }

  /// `done` bytes have arrived at the accessory.
  func note(done: Int) { state.withLock { $0.done = done } }

  func bytes(at offset: Int, count: Int) async throws(AccessoryError) -> [UInt8] {
    var result: [UInt8] = []
    while result.count < count {
      let piece = try await beginning(at: offset + result.count, longest: count - result.count)
      result += piece
    }
    return result
  }

  /// The buffered bytes at an offset. If there are none, requests a piece from the client and waits for it.
  private func beginning(at offset: Int, longest: Int) async throws(AccessoryError) -> ArraySlice<UInt8> {
    let kept = state.withLock { state -> ArraySlice<UInt8> in
      guard offset >= state.offset, offset - state.offset < state.bytes.count else { return [] }
      return state.bytes[(offset - state.offset)...].prefix(longest)
    }
    if !kept.isEmpty { return kept }
    return try await ask(offset, min(Self.piece, self.count - offset)).prefix(longest)
  }

  private func ask(_ offset: Int, _ count: Int) async throws(AccessoryError) -> [UInt8] {
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let done = state.withLock { state in
      state.wanted = (offset, count, continuation)
      return state.done
    }
    defer { state.withLock { $0.wanted = nil } }
    var reply = Bridge.SendFile.Reply(.wanted)
    (reply.transfer, reply.offset, reply.count_bytes, reply.done_bytes) = (name, offset, count, done)
    do throws(CallError) {
      try await answers.send(reply)
    } catch {
      throw AccessoryError(.cancelled, "the client has disconnected")
    }
    let timer = clock.schedule(at: clock.now + Self.patience) { continuation.finish() }
    defer { clock.cancel(timer) }
    for await bytes in stream { return bytes }
    if Task.isCancelled { throw AccessoryError(.cancelled, "the transfer was cancelled") }
    throw AccessoryError(.timedOut, "the client did not send the requested piece of its file in time")
  }

  /// Takes a piece from the client. Throws when this piece wasn't requested.
  func supply(_ bytes: [UInt8], at offset: Int) throws(CallError) {
    let continuation = try state.withLock { state throws(CallError) in
      guard let wanted = state.wanted else {
        throw CallError(AccessoryError(.misconfigured, "the service has not requested a piece of this file"))
      }
      guard wanted.offset == offset else { throw .invalidParameter("offset") }
      guard wanted.count == bytes.count else { throw .invalidParameter("bytes_hex") }
      (state.bytes, state.offset, state.wanted) = (bytes, offset, nil)
      return wanted.continuation
    }
    continuation.yield(bytes)
    continuation.finish()
  }
}
