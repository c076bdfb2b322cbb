// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// How a transport ends: all transfers are cancelled and come back before the device is closed.

extension USBTransport {
  /// How often to check for transfers that are missing. A device that has hung up doesn't wake the loop any more.
  private static let lookInterval: Duration = .milliseconds(2)
  /// How long the consumer waits for transfers of a device that is gone; later transfers won't deliver bytes.
  private static let consumerTimeout: Duration = .milliseconds(50)
  /// How long the device is kept open for transfers that don't come back.
  private static let transferTimeout: Duration = .milliseconds(1_000)

  /// Call this when the device is certainly gone. Any thread may call it, also while libusb handles events.
  nonisolated func vanished() { io.post { self.assumeIsolated { $0.endVanished() } } }

  /// Ends the transport with `disconnected`, after the bytes that have arrived.
  public nonisolated func deviceWasRemoved() { vanished() }

  private func endVanished() {
    guard case .open = phase else { return }
    context.assumeIsolated { $0.handleEvents() }  // delivers what has arrived first
    end(.disconnected(label))
  }

  /// Stops both directions, and cancels the transfers that are with the kernel.
  func end(_ error: AccessoryError?) {
    guard case .open = phase else { return }
    phase = .ending(error, since: io.now)
    output.close(error)
    cancel(inputSide.cancellable + outputSide.cancellable)
    // Posted, because this may run within libusb's event handling.
    io.post { self.assumeIsolated { $0.settle(isLook: true) } }
  }

  /// Continues to close as far as the transfers allow. `isLook`: called by the timer, which is set again if needed.
  func settle(isLook: Bool = false) {
    guard case .ending(let error, let since) = phase else { return }
    let waited = io.now - since
    let isBack = inputSide.pendingCount + outputSide.pendingCount == 0
    if isBack || waited >= Self.consumerTimeout { input.finish(error) }
    if isBack || waited >= Self.transferTimeout {
      phase = .released
      context.detach(device.descriptor.rawValue)
      io.post { self.assumeIsolated { $0.release() } }
    } else if isLook {
      _ = io.schedule(at: io.now + Self.lookInterval) {
        self.assumeIsolated { transport in
          transport.context.assumeIsolated { $0.handleEvents() }
          transport.settle(isLook: true)
        }
      }
    }
  }

  private func release() {
    // Transfers that haven't come back must not be freed before the device is closed, because libusb still uses them.
    nonisolated(unsafe) let transfers = inputSide.takeTransfers() + outputSide.takeTransfers()
    setup.post { [device, io] in
      device.release()
      withExtendedLifetime(transfers) {}
      io.post { self.assumeIsolated { $0.released() } }
    }
  }

  // MARK: - Closing

  /// How long a close waits for accepted bytes to be sent.
  private static let drainTimeout: Duration = .milliseconds(500)

  /// Ends the input, refuses new output, and ends the transport when the device has taken what was queued.
  private func beginClosing() {
    guard case .open = phase, !isClosing else { return }
    isClosing = true
    output.seal()
    input.finish(nil)
    endIfDrained()
    guard case .open = phase else { return }
    _ = io.schedule(at: io.now + Self.drainTimeout) { self.assumeIsolated { $0.end(nil) } }
  }

  /// Ends the transport if it is closing and nothing is left to send.
  func endIfDrained() { if isClosing, output.queuedCount == 0 { end(nil) } }

  /// Ends the transport, and returns when other programs can open the device and the kernel's driver has its interface
  /// back.
  ///
  /// Accepted bytes are still sent, if the device takes them within half a second. Unplugging ends the wait at once.
  /// Without unsent bytes there is no wait.
  public func close() async {
    beginClosing()
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.beginClosing() } } }
}
