// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb

/// The direction from the host to the device.
struct OutputSide: TransferSide {
  let endpoint: USBEndpointDescription
  var state = SubmissionState.open
  private(set) var pendingCount = 0

  private var idle: [USBTransfer] = []
  /// Transfers that are with libusb or wait to be repeated, in order.
  private var underWay: [USBTransfer] = []
  private var pieces: OutputPieces
  private var recovery = EndpointRecovery()
  private let queue: OutputQueue
  private let tally: USBTally
  private let label: String

  /// How often to check whether all transfers that must be repeated have come back.
  private static let lookInterval: Duration = .milliseconds(5)

  /// A side that takes bytes from `queue` and puts them into transfers of this `shape`. It has no transfers yet.
  init(
    _ endpoint: USBEndpointDescription, from queue: OutputQueue, as shape: USBTransportConfiguration.Shape,
    tally: USBTally,
    label: String
  ) {
    self.endpoint = endpoint
    self.queue = queue
    self.tally = tally
    self.label = label
    pieces = OutputPieces(endpoint, from: queue, as: shape)
  }

  /// Gives the side its transfers.
  mutating func begin(with transfers: [USBTransfer]) { idle = transfers }

  var cancellable: [USBTransfer] { underWay }

  mutating func submit(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    guard state == .open, recovery.action == .none else { return [] }
    while let transfer = idle.last, pieces.fill(transfer) {
      idle.removeLast()
      underWay.append(transfer)
      let result = transfer.send()
      guard result == 0 else { return failed(result, now()) }
      pendingCount += 1
    }
    return []
  }

  mutating func ended(
    _ transfer: USBTransfer, _ outcome: USBTransfer.Outcome, now: @autoclosure () -> MonotonicTime
  ) -> [RecoveryStep] {
    pendingCount -= 1
    // A producer that waits for space is woken after the next transfer was submitted.
    let taken = transfer.taken
    defer { queue.wrote(taken) }
    let isWhole = transfer.count == transfer.length && (outcome == .completed || outcome == .cancelled)
    if isWhole {
      underWay.removeAll { $0 === transfer }
      idle.append(transfer)
      let wasGlitch = recovery.worked()
      tally.count {
        $0.sent += 1
        if wasGlitch { $0.glitches += 1 }
      }
    }
    guard state != .over else { return [] }
    var steps: [RecoveryStep] = []
    switch outcome {
    case .completed: steps = isWhole ? submit(now: now()) : failed(nil, now())
    // Transfers after one that the device didn't take are cancelled, so that the order is kept.
    case .stalled: steps = recovery.stalled() ? [.cancel] : [.end(.stalling(label, endpoint))]
    case .failed: steps = failed(nil, now())
    case .cancelled, .gone: break
    }
    if recovery.action == .clearHalt, pendingCount == 0 { steps.append(.clearHalt) }
    return steps
  }

  /// Called when a transfer failed, or when libusb refused to submit it with `code`.
  private mutating func failed(_ code: CInt?, _ now: MonotonicTime) -> [RecoveryStep] {
    guard state != .over else { return [] }
    if code == LIBUSB_ERROR_NO_DEVICE.rawValue { return [.vanish] }
    tally.count { $0.failures += 1 }
    let isNew = recovery.action == .none
    guard let delay = recovery.failed(at: now) else { return [.end(.failing(label, code))] }
    return isNew && recovery.action == .pause ? [.cancel, .retry(after: delay)] : [.cancel]
  }

  /// Submits the bytes that the device didn't take again, in order, when all transfers have come back.
  mutating func retry(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    guard state != .over, recovery.action == .pause else { return [] }
    // Waits until all transfers are back and no cancellation is running in either direction. Otherwise later bytes
    // would overtake these.
    guard pendingCount == 0, state == .open else { return [.retry(after: Self.lookInterval)] }
    recovery.recovered()
    for transfer in underWay {
      let result = transfer.sendRest()
      guard result == 0 else { return failed(result, now()) }
      pendingCount += 1
    }
    return submit(now: now())
  }

  mutating func haltCleared(_ result: CInt, now: @autoclosure () -> MonotonicTime) -> [RecoveryStep] {
    guard result == 0 else {
      recovery.recovered()
      return failed(result, now())
    }
    recovery.haltCleared()
    return retry(now: now())
  }

  mutating func takeTransfers() -> [USBTransfer] {
    defer { (idle, underWay) = ([], []) }
    return idle + underWay
  }
}
