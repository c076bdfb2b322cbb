// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// How a pair of endpoints ends: every transfer is cancelled and back before the device is closed.

extension USBTransport {
  /// The interval at which missing transfers are looked for. A device that hung up doesn't wake the loop any more.
  private static let lookInterval: Duration = .milliseconds(2)
  /// How long the consumer waits for transfers of a device that is gone; after that they won't bring any bytes.
  private static let consumerPatience: Duration = .milliseconds(50)
  /// How long the device is kept open for transfers that don't come back.
  private static let patience: Duration = .milliseconds(1_000)

  /// Call this when the device is certainly gone. May be called on any thread, also while libusb handles events.
  nonisolated func vanished() { io.post { self.assumeIsolated { $0.endVanished() } } }

  /// Ends with `disconnected`, behind what has arrived.
  public nonisolated func deviceWasRemoved() { vanished() }

  private func endVanished() {
    guard case .open = phase else { return }
    context.assumeIsolated { $0.handleEvents() }  // what has arrived comes first
    end(.disconnected(label))
  }

  /// Stops both directions, and cancels the transfers that are with the kernel.
  func end(_ error: AccessoryError?) {
    guard case .open = phase else { return }
    phase = .ending(error, since: io.now)
    output.close(error)
    cancel(inputSide.cancellable + outputSide.cancellable)
    // Not done at once: this may run within libusb's event handling.
    io.post { self.assumeIsolated { $0.settle(isLook: true) } }
  }

  /// Continues closing as far as the transfers allow.
  func settle(isLook: Bool = false) {
    guard case .ending(let error, let since) = phase else { return }
    let waited = io.now - since
    let isBack = inputSide.pendingCount + outputSide.pendingCount == 0
    if isBack || waited >= Self.consumerPatience { input.finish(error) }
    if isBack || waited >= Self.patience {
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

  // MARK: - Leaving

  /// How long a close waits for accepted bytes to be sent.
  private static let farewell: Duration = .milliseconds(500)

  /// Ends the input, refuses new output, and ends when the device has taken what was queued.
  private func leave() {
    guard case .open = phase, !isLeaving else { return }
    isLeaving = true
    output.seal()
    input.finish(nil)
    hasLeft()
    guard case .open = phase else { return }
    _ = io.schedule(at: io.now + Self.farewell) { self.assumeIsolated { $0.end(nil) } }
  }

  /// Ends when a close waits and nothing is left to send.
  func hasLeft() { if isLeaving, output.queuedCount == 0 { end(nil) } }

  /// Stops, and returns when the device is free for others and the kernel's driver has its interface back.
  ///
  /// What was accepted for writing still goes out, if the device takes it within half a second; unplugging ends that at
  /// once. With nothing on its way there is no wait.
  public func close() async {
    leave()
    // Checked inside the actor: other jobs may run before this one.
    await withCheckedContinuation { if isClosed { $0.resume() } else { closers.append($0) } }
  }

  /// Does the same, without waiting for it.
  public nonisolated func beginClose() { io.post { self.assumeIsolated { $0.leave() } } }
}
