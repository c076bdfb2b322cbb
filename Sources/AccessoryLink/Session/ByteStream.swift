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
    let input: ReceivedInput

    init(_ session: AccessorySession) { input = ReceivedInput(session) }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next piece; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> [UInt8]? {
      var buffer: [UInt8] = []
      return try await input.next { $0.take(into: &buffer) } ? buffer : nil
    }
  }
}
