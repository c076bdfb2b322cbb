// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The stream of bytes that all devices at our serial port share.
final class GATTUARTTransport: Transport, IOWork {
  let label: String
  let input = InputQueue()
  let output = OutputQueue(highWater: 16_384)
  var timing: LineTiming { .instant }
  private let io: IOThread
  private let server: GATTUARTServer
  private let state = Locked(State())
  private let closed = OneShot<Void>()

  private struct State: Sendable {
    /// The bytes that are being sent, and how many of them were sent.
    var writing: [UInt8] = []
    var writtenCount = 0
    /// The number of bytes that have arrived since the reader fell behind.
    var unreadCount = 0
    var isOver = false
  }

  /// The most unread bytes. Unlike a socket, a device can't be held back.
  static let unreadLimit = 1 << 20
  /// How long a close waits for bytes that were accepted before.
  private static let closeLimit = Duration.seconds(1)

  init(label: String, io: IOThread, server: GATTUARTServer) {
    (self.label, self.io, self.server) = (label, io, server)
    output.onQueued { [weak self] in if let self { self.io.post(self) } }
    input.onResume { [weak self] in self?.state.withLock { $0.unreadCount = 0 } }
  }

  func perform() { flush() }

  /// Accepts bytes that a device has written. Returns false when too many are unread.
  func take(_ bytes: [UInt8]) -> Bool {
    guard !state.withLock({ $0.isOver }) else { return true }
    if input.append(bytes.span.bytes) { return true }
    return state.withLock { state in
      state.unreadCount += bytes.count
      return state.unreadCount <= Self.unreadLimit
    }
  }

  /// Sends waiting bytes while there is room. Called on the I/O thread.
  func flush() {
    while !state.withLock({ $0.isOver }) {
      let isEmpty = state.withLock { $0.writtenCount == $0.writing.count }
      if isEmpty {
        var next: [UInt8] = []
        guard output.take(into: &next) else { return }
        state.withLock { ($0.writing, $0.writtenCount) = (next, 0) }
      }
      // Without a listener the bytes are dropped, as on a serial port without a cable.
      guard let chunk = server.enter({ $0.chunk() }) else {
        let count = state.withLock { state in
          defer { state.writtenCount = state.writing.count }
          return state.writing.count - state.writtenCount
        }
        output.wrote(count)
        continue
      }
      let packet = state.withLock { Array($0.writing[$0.writtenCount...].prefix(max(1, chunk))) }
      // `ready` continues.
      guard server.enter(packet, { $0.send($1) }) else { return }
      state.withLock { $0.writtenCount += packet.count }
      output.wrote(packet.count)
    }
  }

  /// Ends both queues, once.
  func finish(_ error: AccessoryError?) {
    let isNews = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    guard isNews else { return }
    output.close(error)
    input.finish(error)
    closed.finish(())
  }

  func close() async {
    beginClose()
    await closed.value()
  }

  func beginClose() {
    io.post { [self] in
      guard !state.withLock({ $0.isOver }) else { return }
      output.seal()
      let end: @Sendable () -> Void = { [self] in
        io.post { [self] in
          server.enter { $0.closed(self) }
          finish(nil)
        }
      }
      let timer = io.schedule(at: io.now + Self.closeLimit, end)
      output.onEmpty { [io] in
        io.cancel(timer)
        end()
      }
      flush()
    }
  }

  func deviceWasRemoved() {
    io.post { [self] in
      server.enter { $0.closed(self) }
      finish(.disconnected(label))
    }
  }
}
