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
    private let lease: Result<SessionLease, AccessoryError>
    private let input: InputQueue
    private let signal = Signal()
    private var hasThrown = false
    private var bytes: [UInt8] = []
    private var messages: [Int] = []
    private var nextByte = 0
    private var nextMessage = 0

    init(_ session: AccessorySession) {
      input = session.transport.input
      do throws(AccessoryError) {
        lease = .success(try session.lease())
        input.onReadable { [signal] in signal.raise() }
      } catch {
        lease = .failure(error)
      }
    }

    /// The next message; nil at the end, or when the task is cancelled.
    public mutating func next() async throws(AccessoryError) -> [UInt8]? { try await next(isolation: nil) }

    /// The next message; nil at the end, or when the task is cancelled.
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
      while !hasThrown && !Task.isCancelled {
        if nextMessage < messages.count {
          let end = nextByte + messages[nextMessage]
          defer { (nextByte, nextMessage) = (end, nextMessage + 1) }
          return Array(bytes[nextByte..<end])
        }
        (nextByte, nextMessage) = (0, 0)
        switch input.take(into: &bytes, messages: &messages) {
        case .bytes: break
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
