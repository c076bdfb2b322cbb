// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb

/// How bytes go to the device.
struct OutputSide: TransferSide {
  let endpoint: USBEndpointDescription
  var state = SubmissionState.open
  private(set) var pendingCount = 0

  private var idle: [USBTransfer] = []
  /// With libusb or waiting to be repeated, in order.
  private var underWay: [USBTransfer] = []
  private var pieces: OutputPieces
  private var trouble = EndpointTrouble()
  private let queue: OutputQueue
  private let tally: USBTally
  private let label: String

  /// The interval at which it is checked whether all transfers to repeat have come back.
  private static let lookInterval: Duration = .milliseconds(5)

  /// A side that takes from `queue` and puts it into transfers of this `shape`. It has no transfers yet.
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

  /// Takes its transfers.
  mutating func begin(with transfers: [USBTransfer]) { idle = transfers }

  var cancellable: [USBTransfer] { underWay }

  mutating func submit(now: @autoclosure () -> MonotonicTime) -> [CureStep] {
    guard state == .open, trouble.cure == .none else { return [] }
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
  ) -> [CureStep] {
    pendingCount -= 1
    // A producer that waits for space is woken after the next transfer was submitted.
    let taken = transfer.taken
    defer { queue.wrote(taken) }
    let isWhole = transfer.count == transfer.length && (outcome == .completed || outcome == .cancelled)
    if isWhole {
      underWay.removeAll { $0 === transfer }
      idle.append(transfer)
      let wasGlitch = trouble.worked()
      tally.count {
        $0.sent += 1
        if wasGlitch { $0.glitches += 1 }
      }
    }
    guard state != .over else { return [] }
    var steps: [CureStep] = []
    switch outcome {
    case .completed: steps = isWhole ? submit(now: now()) : failed(nil, now())
    // What comes behind a transfer that was not taken waits, to stay behind it.
    case .stalled: steps = trouble.stalled() ? [.cancel] : [.end(.stalling(label, endpoint))]
    case .failed: steps = failed(nil, now())
    case .cancelled, .gone: break
    }
    if trouble.cure == .clearHalt, pendingCount == 0 { steps.append(.clearHalt) }
    return steps
  }

  /// A transfer failed, or could not be submitted: `code` is libusb's then.
  private mutating func failed(_ code: CInt?, _ now: MonotonicTime) -> [CureStep] {
    guard state != .over else { return [] }
    if code == LIBUSB_ERROR_NO_DEVICE.rawValue { return [.vanish] }
    tally.count { $0.failures += 1 }
    let isNew = trouble.cure == .none
    guard let delay = trouble.failed(at: now) else { return [.end(.failing(label, code))] }
    return isNew && trouble.cure == .pause ? [.cancel, .retry(after: delay)] : [.cancel]
  }

  /// Submits the bytes that weren't taken again, in order, when all their transfers have come back.
  mutating func retry(now: @autoclosure () -> MonotonicTime) -> [CureStep] {
    guard state != .over, trouble.cure == .pause else { return [] }
    // Waits until all transfers are back and no cancellation is running in either direction. Otherwise later bytes
    // would overtake these.
    guard pendingCount == 0, state == .open else { return [.retry(after: Self.lookInterval)] }
    trouble.cured()
    for transfer in underWay {
      let result = transfer.sendRest()
      guard result == 0 else { return failed(result, now()) }
      pendingCount += 1
    }
    return submit(now: now())
  }

  mutating func haltCleared(_ result: CInt, now: @autoclosure () -> MonotonicTime) -> [CureStep] {
    guard result == 0 else {
      trouble.cured()
      return failed(result, now())
    }
    trouble.haltCleared()
    return retry(now: now())
  }

  mutating func takeTransfers() -> [USBTransfer] {
    defer { (idle, underWay) = ([], []) }
    return idle + underWay
  }
}
