// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb

/// The direction from the device to the host.
struct InputSide: TransferSide {
  let endpoint: USBEndpointDescription
  var state = SubmissionState.open
  /// Decides when the consumer is notified.
  var wakePolicy = WakePolicy(limit: 0)
  private(set) var pendingCount = 0
  private(set) var isPaused = false

  private var transfers: [USBTransfer] = []
  private var recovery = EndpointRecovery()
  /// The bytes that the next transfer asks for, and the bytes that a transfer asks for when the device doesn't fill
  /// transfers quickly.
  private var length = 0
  private var usualLength = 0
  /// When a transfer last came back full.
  private var lastFull: MonotonicTime?
  private let queue: InputQueue
  private let tally: USBTally
  private let label: String

  /// A side that appends to `queue`. It has no transfers yet.
  init(_ endpoint: USBEndpointDescription, to queue: InputQueue, tally: USBTally, label: String) {
    self.endpoint = endpoint
    self.queue = queue
    self.tally = tally
    self.label = label
  }

  /// Gives the side its transfers. Each asks for `usualLength` bytes, or for more while the device fills them quickly.
  mutating func begin(with transfers: [USBTransfer], usualLength: Int) {
    self.transfers = transfers
    self.usualLength = usualLength
    length = usualLength
    wakePolicy = WakePolicy(limit: transfers.reduce(0) { $0 + $1.capacity })
  }

  var cancellable: [USBTransfer] { transfers }

  mutating func submit(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    guard state == .open, !isPaused, recovery.action == .none else { return [] }
    for transfer in transfers where !transfer.isPending {
      let result = transfer.receive(length)
      guard result == 0 else { return failed(result, now()) }
      pendingCount += 1
    }
    return []
  }

  /// Continues after a pause, because the consumer has taken the bytes.
  mutating func resume() { isPaused = false }

  /// Called when libusb has delivered all transfers that had ended.
  mutating func batchEnded() -> WakePolicy.Step { wakePolicy.batchEnded(isPaused: isPaused) }

  mutating func ended(
    _ transfer: USBTransfer, _ outcome: USBTransfer.Outcome, now: @autoclosure () -> MonotonicTime
  ) -> [RecoveryStep] {
    pendingCount -= 1
    // Bytes that a transfer received before it failed or was cancelled have left the device, so they are kept.
    let hasBrought = transfer.count > 0 || (outcome == .completed && queue.keepsMessages)
    if hasBrought { isPaused = !queue.append(transfer.bytes, notifying: false) || isPaused }
    let isFull = transfer.count == transfer.length && !queue.keepsMessages
    wakePolicy.arrived(hasBrought ? transfer.count : nil, isFull: isFull)
    askForMore(isFull, now)
    guard state != .over else { return [] }
    var steps: [RecoveryStep] = []
    switch outcome {
    case .completed:
      worked()
      // A transfer that isn't full is a reply or the end of one: the consumer is notified before new transfers are
      // submitted, which takes time. But at least half of the transfers stay with the kernel.
      if isFull || pendingCount * 2 <= transfers.count { steps = submit(now: now()) }
    case .stalled: steps = recovery.stalled() ? [.cancel] : [.end(.stalling(label, endpoint))]
    case .failed: steps = failed(nil, now())
    case .cancelled, .gone: break
    }
    if recovery.action == .clearHalt, pendingCount == 0 { steps.append(.clearHalt) }
    return steps
  }

  private mutating func worked() {
    let wasGlitch = recovery.worked()
    let isStarved = pendingCount == 0 && transfers.count > 1 && !isPaused && recovery.action == .none
    tally.count {
      $0.received += 1
      if wasGlitch { $0.glitches += 1 }
      if isPaused { $0.pauses += 1 }
      if isStarved { $0.starvations += 1 }
    }
  }

  /// Uses larger transfers while the device fills them quickly, and the usual length when it doesn't.
  private mutating func askForMore(_ isFull: Bool, _ now: () -> MonotonicTime) {
    guard isFull else { return length = usualLength }
    let now = now()
    let isQuick = lastFull.map { now - $0 < USBTransportConfiguration.quickly } ?? false
    lastFull = now
    length = isQuick ? transfers[0].capacity : usualLength
  }

  /// Called when a transfer failed, or when libusb refused to submit it with `code`.
  private mutating func failed(_ code: CInt?, _ now: MonotonicTime) -> [RecoveryStep] {
    guard state != .over else { return [] }
    if code == LIBUSB_ERROR_NO_DEVICE.rawValue { return [.vanish] }
    tally.count { $0.failures += 1 }
    let isNew = recovery.action == .none
    guard let delay = recovery.failed(at: now) else { return [.end(.failing(label, code))] }
    return isNew && recovery.action == .pause ? [.retry(after: delay)] : []
  }

  mutating func retry(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    if recovery.action == .pause { recovery.recovered() }
    return submit(now: now())
  }

  mutating func haltCleared(_ result: CInt, now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    recovery.recovered()
    return result == 0 ? submit(now: now()) : failed(result, now())
  }

  mutating func takeTransfers() -> [USBTransfer] {
    defer { transfers = [] }
    return transfers
  }
}
