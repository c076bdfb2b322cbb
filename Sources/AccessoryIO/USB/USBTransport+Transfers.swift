// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// Handles transfers and the steps that the two directions request, all on the I/O thread.

extension USBTransport {
  typealias Direction = USBEndpointDescription.Direction

  // MARK: - Transfers

  /// Submits the transfers that a direction can use now.
  func submit(_ direction: Direction) {
    follow(direction == .in ? inputSide.submit(now: io.now) : outputSide.submit(now: io.now), direction)
  }

  /// Continues reading after the consumer has taken the bytes.
  func resume() {
    inputSide.resume()
    submit(.in)
  }

  /// Handles a transfer that libusb delivers. Called on the I/O thread while libusb handles events, so nothing may be
  /// closed here.
  func ended(_ transfer: USBTransfer, _ outcome: USBTransfer.Outcome) {
    if transfer.isInput {
      follow(inputSide.ended(transfer, outcome, now: io.now), .in)
      awaitBatch()
    } else {
      follow(outputSide.ended(transfer, outcome, now: io.now), .out)
    }
    if outcome == .gone { vanished() }
    endIfDrained()
    settle()
  }

  // MARK: - Notifying the consumer

  /// Requests a call of `batchEnded` after libusb's callbacks.
  private func awaitBatch() {
    guard !isAwaitingBatch else { return }
    isAwaitingBatch = true
    context.enter(self) { $0.awaitBatch($1) }
  }

  /// Called after libusb's callbacks: notifies the consumer, and submits the transfers again.
  func batchEnded() {
    isAwaitingBatch = false
    follow(inputSide.batchEnded())
    submit(.in)
  }

  /// Called after the loop has looked for more events.
  func looked() {
    let isMoreComing = context.enter { $0.isPosted }
    follow(inputSide.wakePolicy.looked(isMoreComing: isMoreComing))
  }

  private func follow(_ step: WakePolicy.Step) {
    switch step {
    case .nothing: break
    case .notify: input.notify()
    case .look: io.post(self)
    case .awaitBatch: awaitBatch()
    }
  }

  // MARK: - Recovery

  /// Carries out the steps that a direction requests.
  private func follow(_ steps: [RecoveryStep], _ direction: Direction) {
    for step in steps {
      switch step {
      case .cancel: cancel(direction == .in ? inputSide.cancellable : outputSide.cancellable)
      case .clearHalt: clearHalt(direction)
      case .retry(let delay):
        _ = io.schedule(at: io.now + delay) { self.assumeIsolated { $0.retry(direction) } }
      case .vanish: vanished()
      case .end(let error): end(error)
      }
    }
  }

  private func retry(_ direction: Direction) {
    follow(direction == .in ? inputSide.retry(now: io.now) : outputSide.retry(now: io.now), direction)
  }

  /// Clears a halt on the setup queue, because that takes a control transfer, and continues.
  private func clearHalt(_ direction: Direction) {
    tally.count { $0.stalls += 1 }
    let endpoint = direction == .in ? inputSide.endpoint : outputSide.endpoint
    setup.post { [self] in
      let result = device.clearHalt(endpoint.address)
      io.post { self.assumeIsolated { $0.haltCleared(direction, result) } }
    }
  }

  private func haltCleared(_ direction: Direction, _ result: CInt) {
    follow(
      direction == .in ? inputSide.haltCleared(result, now: io.now) : outputSide.haltCleared(result, now: io.now),
      direction)
  }

  // MARK: - Cancelling

  /// Cancels pending transfers on the setup queue. Nothing is submitted before that is done.
  func cancel(_ transfers: [USBTransfer]) {
    let pending = transfers.filter(\.isPending).map(\.cancellation)
    guard !pending.isEmpty else { return }
    cancelling += 1
    setup.post { [self] in
      for transfer in pending { transfer.run() }
      io.post { self.assumeIsolated { $0.cancelled() } }
    }
  }

  private func cancelled() {
    cancelling -= 1
    guard cancelling == 0 else { return }
    submit(.in)
    submit(.out)
  }

  /// Sets whether both directions may submit transfers.
  func setSubmissionState() {
    let state: SubmissionState = isOver ? .over : cancelling > 0 ? .paused : .open
    inputSide.state = state
    outputSide.state = state
  }

  private var isOver: Bool { if case .open = phase { false } else { true } }
}
