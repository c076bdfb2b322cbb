// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The received messages of an accessory, as an asynchronous sequence. For transports that keep messages apart; each
/// report of a HID interface is a message. For one consumer. A message may be empty.
public struct MessageStream: AsyncSequence, Sendable {
  /// The bytes of one message.
  public typealias Element = [UInt8]
  /// What the sequence throws.
  public typealias Failure = AccessoryError

  private let session: AccessorySession

  init(_ session: AccessorySession) { self.session = session }

  /// Starts to take messages.
  public func makeAsyncIterator() -> Iterator { Iterator(session) }

  /// Takes the messages one after another.
  public struct Iterator: AsyncIteratorProtocol {
    private let input: ReceivedInput
    private var bytes: [UInt8] = []
    private var messages: [Int] = []
    private var nextByte = 0
    private var nextMessage = 0

    init(_ session: AccessorySession) { input = ReceivedInput(session) }

    /// The next message; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next message; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(AccessoryError) -> [UInt8]? {
      repeat {
        let isThere = try await input.next { queue in
          if nextMessage < messages.count { return .bytes }
          (nextByte, nextMessage) = (0, 0)
          return queue.take(into: &bytes, messages: &messages)
        }
        guard isThere else { return nil }
      } while nextMessage >= messages.count
      let end = nextByte + messages[nextMessage]
      defer { (nextByte, nextMessage) = (end, nextMessage + 1) }
      return Array(bytes[nextByte..<end])
    }
  }
}
