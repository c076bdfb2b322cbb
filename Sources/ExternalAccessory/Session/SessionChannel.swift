// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// An opened accessory with the cores of its two streams.
///
/// The accessory is free again when both streams are closed, which happens at the latest when they are released.
final class SessionChannel: Sendable {
  /// The protocol for which the accessory was opened.
  let protocolString: String
  let input: InputCore
  let output: OutputCore
  private let session: AccessorySession
  private let openStreams = Locked(2)

  /// How long the end of the output stream waits for a client that doesn't read the bytes received before the end.
  private static let endPatience = Duration.milliseconds(500)

  /// A channel over an opened accessory, which it takes over. `onLost` is called on the I/O thread when the accessory
  /// is gone.
  init(
    _ session: AccessorySession, protocolString: String, io: IOThread = .shared, onLost: @escaping @Sendable () -> Void
  ) {
    self.session = session
    self.protocolString = protocolString
    input = InputCore(session.transport.input)
    output = OutputCore(session.transport.output)
    session.transport.output.onClosed { [weak self, input = input.notifier, output = output.notifier] error in
      self?.openStreams.withLock { $0 = 0 }
      // Many clients close both streams at the first end event, so the received bytes are delivered before the output's
      // end event.
      let timer = io.schedule(at: io.now + Self.endPatience) { output.finish(error) }
      input.whenTold {
        io.cancel(timer)
        output.finish(error)
      }
      if error?.kind == .disconnected { onLost() }
    }
  }

  /// One of the two streams was closed.
  func streamClosed() {
    let isLast = openStreams.withLock { count in
      count -= 1
      return count == 0
    }
    if isLast { beginClose() }
  }

  /// Whether at least one stream is open, so that the accessory is still in use.
  var isOpen: Bool { openStreams.withLock { $0 > 0 } }

  /// Begins to close the accessory, without waiting for the end.
  func beginClose() { session.transport.beginClose() }

  /// Discovery reports that the device was removed: ends like an unplug that the transport notices itself.
  func deviceWasRemoved() { session.transport.deviceWasRemoved() }

  /// Closes the accessory; returns when other programs can open it.
  func close() async { await session.close() }

  /// Calls `body` when the delegates of both streams have received the end events, as far as there are delegates.
  func whenTold(_ body: @escaping @Sendable () -> Void) {
    input.notifier.whenTold { [output] in output.notifier.whenTold(body) }
  }
}
