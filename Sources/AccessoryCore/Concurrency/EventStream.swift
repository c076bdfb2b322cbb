// SPDX-License-Identifier: Apache-2.0

/// Events as an asynchronous sequence that throws `AccessoryError`, for one consumer. The function that returns a
/// stream documents when it ends and how many events it buffers.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
  /// The error type of the sequence.
  public typealias Failure = AccessoryError

  private let base: AsyncThrowingStream<Element, any Error>

  /// Wraps a stream that finishes with an `AccessoryError` or without an error.
  public init(_ base: AsyncThrowingStream<Element, any Error>) { self.base = base }

  /// The same events, each converted by `meaning`. Events for which it returns nil are left out.
  public func converted<Other: Sendable>(
    _ meaning: @escaping @Sendable (Element) -> Other?
  ) -> EventStream<Other> {
    spread { meaning($0).map { [$0] } ?? [] }
  }

  /// The same events, each as none, one or several others.
  package func spread<Other: Sendable>(
    _ meanings: @escaping @Sendable (Element) -> [Other]
  ) -> EventStream<Other> {
    let base = base
    let pending = Locked<ArraySlice<Other>>([])
    return EventStream<Other>(
      AsyncThrowingStream {
        if let next = pending.withLock({ $0.popFirst() }) { return next }
        var iterator = base.makeAsyncIterator()
        while let event = try await iterator.next() {
          let others = meanings(event)
          guard let first = others.first else { continue }
          pending.withLock { $0 = others.dropFirst() }
          return first
        }
        return nil
      })
  }

  /// Returns an iterator over the events.
  public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

  /// Returns the events one after another.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncThrowingStream<Element, any Error>.Iterator

    /// The next event; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> Element? { try await next(isolation: nil) }

    /// The next event; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> Element? {
      do {
        return try await base.next(isolation: actor)
      } catch let error as AccessoryError {
        throw error
      } catch {
        throw AccessoryError(.ioFailure, "\(error)")
      }
    }
  }
}
