// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// An opened accessory and the cores of its two streams.
///
/// The accessory is free again when both streams are closed, which they are at the latest when nobody has them any more.
final class SessionChannel: Sendable {
  /// The protocol it was opened for.
  let protocolString: String
  let input: InputCore
  let output: OutputCore
  private let session: AccessorySession
  private let openStreams = Locked(2)

  /// How long the end of the output waits for a client that doesn't read what had arrived.
  private static let endPatience = Duration.milliseconds(500)

  /// A channel over an opened accessory, which belongs to it from now on. `onLost` is called when the accessory goes,
  /// on the I/O thread.
  init(
    _ session: AccessorySession, protocolString: String, io: IOThread = .shared, onLost: @escaping @Sendable () -> Void
  ) {
    self.session = session
    self.protocolString = protocolString
    input = InputCore(session.transport.input)
    output = OutputCore(session.transport.output)
    session.transport.output.onClosed { [weak self, input = input.notifier, output = output.notifier] error in
      self?.openStreams.withLock { $0 = 0 }
      // Many clients close everything at the first end event. So bytes that have arrived are delivered before it.
      let timer = io.schedule(at: io.now + Self.endPatience) { output.finish(error) }
      input.whenTold {
        io.cancel(timer)
        output.finish(error)
      }
      if error?.kind == .disconnected { onLost() }
    }
  }

  /// One of the streams was closed.
  func streamClosed() {
    let isLast = openStreams.withLock { count in
      count -= 1
      return count == 0
    }
    if isLast { beginClose() }
  }

  /// Whether the accessory is still held by this, and hasn't gone.
  var isOpen: Bool { openStreams.withLock { $0 > 0 } }

  /// Closes the accessory, without waiting.
  func beginClose() { session.transport.beginClose() }

  /// Discovery knows that the accessory is gone: ends as if that had been noticed here.
  func deviceWasRemoved() { session.transport.deviceWasRemoved() }

  /// Closes the accessory; returns when it is free for others.
  func close() async { await session.close() }

  /// Calls `body` when the delegates of both streams have been told of the end, as far as there is anybody to tell.
  func whenTold(_ body: @escaping @Sendable () -> Void) {
    input.notifier.whenTold { [output] in output.notifier.whenTold(body) }
  }
}
