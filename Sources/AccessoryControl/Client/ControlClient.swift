// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A connection to a service. Calls may overlap, and are answered in order; a stream or an upgrade uses the connection
/// alone. The connection is closed when this object is released.
package final class ControlClient: Sendable {
  private let connection: ClientConnection
  private let clock: any TimerClock
  private let label: String

  private init(_ descriptor: FileDescriptor, label: String, io: IOThread, clock: any TimerClock) {
    connection = ClientConnection(descriptor, label: label, io: io)
    self.label = label
    self.clock = clock
  }

  deinit { connection.close() }

  /// Connects to the service at the socket `path`. Throws `disconnected` when no service is there, `permissionDenied`, and
  /// `timedOut` when the queue of waiting clients stays full for `timeout`.
  package static func connect(
    to path: String, timeout: Duration = .seconds(5), io: IOThread = .shared
  ) async throws(AccessoryError) -> ControlClient {
    try await connect(to: path, timeout: timeout, io: io, clock: io)
  }

  /// Connects like `connect(to:timeout:io:)`, and uses `clock` for the time limits of calls.
  package static func connect(
    to path: String, timeout: Duration = .seconds(5), io: IOThread, clock: any TimerClock
  ) async throws(AccessoryError) -> ControlClient {
    let descriptor = try await SetupQueue(label: "control").run { () throws(AccessoryError) in
      do throws(Errno) {
        return try UnixSocket.connected(to: path, within: timeout)
      } catch {
        throw failure(error, path)
      }
    }
    return ControlClient(descriptor, label: "the service at \(path)", io: io, clock: clock)
  }

  private static func failure(_ errno: Errno, _ path: String) -> AccessoryError {
    switch errno {
    case .noSuchFileOrDirectory, .connectionRefused, .notDirectory:
      .noService(at: path, errno.rawValue)
    case .wouldBlock:
      AccessoryError(
        .timedOut, code: .errno(errno.rawValue),
        "the service at \(path) accepts no more clients at present: try again later")
    default: AccessoryError(errno: errno, "connecting to \(path)")
    }
  }

  // MARK: - Calls

  /// Makes a call and waits for the reply. Throws errors of the connection: `timedOut` after `timeout`, `disconnected`
  /// when the service ends, `cancelled` when the task is cancelled, `badData` for an invalid reply.
  package func call<Method: ControlMethod>(
    _ method: Method, timeout: Duration? = .seconds(60)
  ) async throws(ControlError) -> Method.Reply {
    let call = CallMessage(method: Method.method, parameters: try parameters(method))
    return try ReplyMessage.read(try await answer(to: call, timeout: timeout), to: Method.self).reply
  }

  /// Makes a call to any method. Throws as `call(_:timeout:)` does.
  package func call(
    _ method: String, _ parameters: [String: JSON] = [:], timeout: Duration? = .seconds(60)
  ) async throws(ControlError) -> [String: JSON] {
    try await outcome(of: CallMessage(method: method, parameters: parameters), timeout: timeout)
  }

  /// Makes a call with any number of replies, which form a sequence for one consumer. The connection is used until the
  /// end of the sequence. When the consumer's task is cancelled, the connection is closed.
  package func stream<Method: ControlMethod>(_ method: Method) throws(ControlError) -> ReplyStream<Method> {
    let call = CallMessage(method: Method.method, parameters: try parameters(method), more: true)
    let queue = MessageQueue { [connection] in connection.resume() }
    connection.stream(call.bytes, queue)
    return ReplyStream(client: self, queue: queue)
  }

  /// Makes a call after which the connection carries an accessory's bytes. Errors name the accessory with `label`.
  /// `line` creates the line control from the reply. Throws as `call(_:timeout:)` does.
  package func upgrade<Method: ControlMethod>(
    _ method: Method, label: String? = nil, timeout: Duration? = .seconds(60),
    line: (Method.Reply) -> LentLine? = { _ in nil }
  ) async throws(ControlError) -> (reply: Method.Reply, transport: any Transport) {
    let call = CallMessage(method: Method.method, parameters: try parameters(method), upgrade: true)
    do throws(ControlError) {
      let reply = try ReplyMessage.read(try await answer(to: call, timeout: timeout), to: Method.self).reply
      do throws(AccessoryError) {
        return (reply, try await connection.upgrade(label, line(reply)))
      } catch {
        throw .connection(error)
      }
    } catch {
      // After an error of the service the connection can still be used. After any other failure its state is unknown.
      if case .answer = error { connection.resume() } else { close() }
      throw error
    }
  }

  /// Closes the connection; pending calls end with `cancelled`.
  package func close() { connection.close() }

  // MARK: - Messages

  private func answer(to call: CallMessage, timeout: Duration?) async throws(ControlError) -> [UInt8] {
    let slot = ClientConnection.ReplySlot()
    let late = AccessoryError(.timedOut, "\(label) did not answer \(call.method) in time")
    let cancelled = AccessoryError(.cancelled, "the call of \(label) was cancelled")
    let timer = timeout.map { limit in
      clock.schedule(at: clock.now + limit) { slot.finish(.failure(late)) }
    }
    defer { if let timer { clock.cancel(timer) } }
    connection.call(call.bytes, upgrade: call.upgrade, slot)
    do throws(AccessoryError) {
      return try await slot.value(whenCancelled: .failure(cancelled)).get()
    } catch {
      throw .connection(error)
    }
  }

  private func outcome(of call: CallMessage, timeout: Duration?) async throws(ControlError) -> [String: JSON] {
    try ReplyMessage.read(try await answer(to: call, timeout: timeout)).parameters
  }

  private func parameters(_ method: some ControlMethod) throws(ControlError) -> [String: JSON] {
    guard let fields = (try? JSON(encoding: method))?.fields else {
      throw .connection(AccessoryError(.misconfigured, "these parameters can't be encoded as JSON"))
    }
    return fields
  }
}

/// The replies to one call, for one consumer. Ends normally after the last reply; throws an error of the service or of
/// the connection once.
package struct ReplyStream<Method: ControlMethod>: AsyncSequence, Sendable {
  /// One reply.
  package typealias Element = Method.Reply
  /// The type of the errors.
  package typealias Failure = ControlError

  let client: ControlClient
  let queue: MessageQueue

  /// Begins to take replies.
  package func makeAsyncIterator() -> Iterator { Iterator(client: client, queue: queue) }

  /// Takes the replies one after another.
  package struct Iterator: AsyncIteratorProtocol {
    let client: ControlClient
    let queue: MessageQueue
    private var isOver = false

    init(client: ControlClient, queue: MessageQueue) {
      self.client = client
      self.queue = queue
    }

    /// The next reply; nil after the last.
    package mutating func next() async throws(ControlError) -> Method.Reply? { try await next(isolation: nil) }

    /// The next reply; nil after the last.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(ControlError) -> Method.Reply? {
      if isOver { return nil }
      isOver = true
      let message: [UInt8]
      do throws(AccessoryError) {
        message = try await queue.next { [client] in client.close() }
      } catch {
        throw .connection(error)
      }
      let (reply, continues) = try ReplyMessage.read(message, to: Method.self)
      isOver = !continues
      return reply
    }
  }
}
