// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The received bytes of an accessory, as an asynchronous sequence of pieces. For one consumer. It retains the session.
public struct ByteStream: AsyncSequence, Sendable {
  /// A piece: all bytes that have arrived, at least one.
  public typealias Element = [UInt8]
  /// What the sequence throws.
  public typealias Failure = AccessoryError

  private let session: AccessorySession

  init(_ session: AccessorySession) { self.session = session }

  /// Starts to take bytes.
  public func makeAsyncIterator() -> Iterator { Iterator(session) }

  /// Takes the pieces one after another.
  public struct Iterator: AsyncIteratorProtocol {
    let lease: Result<SessionLease, AccessoryError>
    let input: InputQueue
    let signal = Signal()
    private var hasThrown = false

    init(_ session: AccessorySession) {
      input = session.transport.input
      do throws(AccessoryError) {
        lease = .success(try session.lease())
        input.onReadable { [signal] in signal.raise() }
      } catch {
        lease = .failure(error)
      }
    }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> [UInt8]? {
      if hasThrown { return nil }
      let lease: SessionLease
      do throws(AccessoryError) {
        lease = try self.lease.get()
        try lease.beginTaking()
      } catch {
        hasThrown = true
        throw error
      }
      defer { lease.endTaking() }
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

/// A signal that wakes one waiting task. A signal from before the wait isn't lost.
final class Signal: Sendable {
  private struct State {
    var isRaised = false
    /// Resumed once, by the code that removes it under the lock; a checked continuation would cost an allocation for
    /// each wait.
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
