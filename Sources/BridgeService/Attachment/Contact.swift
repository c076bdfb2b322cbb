// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The contact to an attachment's device: from its opening to its closing, again and again.
struct Contact {
  /// The traffic of its line, which all accessories on the line share.
  let taps: TapHub
  /// The open accessory; nil while it isn't attached.
  private(set) var open: OpenAccessory?
  /// The connection of a Bluetooth adapter that it has; see `AirConnections`.
  var ticket: Int?
  /// When the device was opened, and whether the first readings after that were made.
  private(set) var connected: MonotonicTime?
  private(set) var isRead = false
  /// Whether it has given its connection to others.
  var takesTurns = false
  /// When the last opening was begun, and how long it took until the accessory was read.
  private var begun: MonotonicTime?
  private(set) var readingTime = Duration.zero
  /// Increased at each opening and closing, so that late events of an earlier opening are ignored.
  private(set) var generation = 0
  /// The task that receives the accessory's messages.
  var listening: Task<Void, Never>?
  /// The task that opens the device.
  private var opening: Task<Void, Never>?
  /// The task that closes the device; the next opening waits for it.
  private(set) var closing: Task<Void, Never>?
  /// Whether subscribers were told that the device is connected. Loans and idle closings in between aren't reported.
  var isTold = false
  /// Whether the device is reset on its bus before it is opened next.
  var mustReset = false
  /// The timers that are needed only while the accessory is attached.
  var pollTimer = DeadlineTimer()
  var idleTimer = DeadlineTimer()
  var valuesTimer = DeadlineTimer()

  /// A contact that begins when the device was closed.
  init(taps: TapHub, after closing: Task<Void, Never>?) { (self.taps, self.closing) = (taps, closing) }

  /// Begins to open the device. `run` gets the new generation and the task to wait for, and opens it.
  mutating func begin(
    at now: MonotonicTime, _ run: (_ generation: Int, _ closing: Task<Void, Never>?) -> Task<Void, Never>
  ) {
    generation += 1
    (begun, isRead) = (now, false)
    opening = run(generation, closing)
  }

  mutating func opened(_ open: OpenAccessory, with ticket: Int?, at now: MonotonicTime) {
    (self.open, self.ticket, connected) = (open, ticket, now)
  }

  /// The first readings after the opening were made.
  mutating func wasRead(at now: MonotonicTime) {
    guard !isRead else { return }
    isRead = true
    if let begun { readingTime = now - begun }
  }

  /// Closes the device, also while it is being opened; the next opening waits for that.
  mutating func close(_ clock: any TimerClock, _ run: (@escaping @Sendable () async -> Void) -> Task<Void, Never>) {
    generation += 1
    cancelTimers(clock)
    listening?.cancel()
    listening = nil
    guard let open else {
      if let opening {
        // The opening finds that its generation is over, and closes the device.
        opening.cancel()
        closing = opening
      }
      opening = nil
      return
    }
    (self.open, opening) = (nil, nil)
    let before = closing
    closing = run {
      await before?.value
      await open.close()
    }
  }

  mutating func cancelTimers(_ clock: any TimerClock) {
    pollTimer.cancel(on: clock)
    idleTimer.cancel(on: clock)
    valuesTimer.cancel(on: clock)
  }
}
