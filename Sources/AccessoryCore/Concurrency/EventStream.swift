// SPDX-License-Identifier: Apache-2.0

/// What happens, as an asynchronous sequence that throws `AccessoryError`. For one consumer. Who gives it says when it
/// ends, and how many events may wait.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
  /// What the sequence throws.
  public typealias Failure = AccessoryError

  private let base: AsyncThrowingStream<Element, any Error>

  /// The elements of a stream that throws an `AccessoryError` or nothing.
  public init(_ base: AsyncThrowingStream<Element, any Error>) { self.base = base }

  /// The same events, each as `meaning` puts it; those for which it has nothing are left out.
  public func converted<Other: Sendable>(
    _ meaning: @escaping @Sendable (Element) -> Other?
  ) -> EventStream<Other> {
    let base = base
    return EventStream<Other>(
      AsyncThrowingStream {
        var iterator = base.makeAsyncIterator()
        while let event = try await iterator.next() {
          if let other = meaning(event) { return other }
        }
        return nil
      })
  }

  /// Begins to take events.
  public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

  /// Takes the events one after another.
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
