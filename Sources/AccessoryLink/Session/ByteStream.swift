// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// The bytes that arrive from an accessory, as an asynchronous sequence of pieces. For one consumer.
public struct ByteStream: AsyncSequence, Sendable {
  /// A piece: at least one byte, as many as have arrived.
  public typealias Element = [UInt8]
  /// What the sequence throws.
  public typealias Failure = AccessoryError

  private let input: InputQueue

  init(_ input: InputQueue) { self.input = input }

  /// Begins to take bytes.
  public func makeAsyncIterator() -> Iterator { Iterator(input) }

  /// Takes the pieces one after another.
  public struct Iterator: AsyncIteratorProtocol {
    private let input: InputQueue
    private let signal = Signal()
    private var hasThrown = false

    init(_ input: InputQueue) {
      self.input = input
      input.onReadable { [signal] in signal.raise() }
    }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> [UInt8]? {
      var buffer: [UInt8] = []
      while !hasThrown && !Task.isCancelled {
        switch input.take(into: &buffer) {
        case .bytes: return buffer
        case .nothing: await signal.wait()
        case .end(nil): return nil
        case .end(let error?):
          hasThrown = true
          throw error
        }
      }
      return nil
    }
  }
}

/// Wakes one task; a signal that comes before the wait is kept.
final class Signal: Sendable {
  private struct State {
    var isRaised = false
    /// Resumed once by whoever takes it out, under the lock; a checked one would cost an allocation for each wait.
    var continuation: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func raise() {
    let waiting = state.withLock { state in
      defer { state.continuation = nil }
      if state.continuation == nil { state.isRaised = true }
      return state.continuation
    }
    waiting?.resume()
  }

  func wait() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isRaised = state.withLock { state in
          defer { state.isRaised = false }
          if !state.isRaised && !Task.isCancelled { state.continuation = continuation }
          return state.continuation == nil
        }
        if isRaised { continuation.resume() }
      }
    } onCancel: {
      raise()
    }
  }
}
