// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The inputs and results of a router that wait for the other thread.
struct RouterMail: Sendable {
  private var inputs: Deque<FrameRouter.Input> = []
  private var results: FrameRouter.Results?
  /// Whether a turn runs, or the queue was asked for one.
  private var isRunning = false
  private var isStopped = false
  /// The number of inputs whose results weren't carried out.
  var unfinished = 0
  /// The number of bytes in messages that weren't sent.
  private var unsent = 0
  /// Whether the device accepts no messages.
  private var isBlocked = true
  /// Whether the rules had to keep requests back, so that they must be called when there is space.
  private var wantsSpace = false

  private var hasSpace: Bool { !isBlocked && unsent < FrameRouter.unsentLimit }

  /// Returns true when the queue must be asked for a turn.
  mutating func add(_ input: FrameRouter.Input) -> Bool {
    guard !isStopped else { return false }
    inputs.append(input)
    unfinished += 1
    defer { isRunning = true }
    return !isRunning
  }

  mutating func sent(_ count: Int, isBlocked: Bool) -> Bool {
    unsent -= count
    self.isBlocked = isBlocked
    guard wantsSpace, hasSpace else { return false }
    wantsSpace = false
    return add(.space)
  }

  mutating func takeInputs() -> (inputs: [FrameRouter.Input], unsent: Int, isBlocked: Bool) {
    var taken: [FrameRouter.Input] = []
    var size = 0
    while size < FrameRouter.turnSize, let input = inputs.popFirst() {
      taken.append(input)
      size += input.size
    }
    return (taken, unsent, isBlocked)
  }

  /// Returns whether the I/O thread must be asked to take the results, and whether there are more inputs.
  mutating func put(_ next: FrameRouter.Results, wasBlocked: Bool) -> (mustPost: Bool, hasMore: Bool) {
    guard !isStopped else { return (false, false) }
    let mustPost = results == nil
    if mustPost { results = next } else { results?.append(next) }
    unsent += next.messages.reduce(0) { $0 + $1.count }
    // The device may have got space during the turn, after the rules had kept a request back.
    isRunning = !inputs.isEmpty
    if wasBlocked {
      wantsSpace = !hasSpace
      if hasSpace { _ = add(.space) }
    }
    return (mustPost, isRunning)
  }

  mutating func takeResults() -> FrameRouter.Results? {
    defer { results = nil }
    return results
  }

  mutating func stop() {
    isStopped = true
    inputs = []
    results = nil
    unfinished = 0
  }
}

extension FrameRouter.Input {
  /// How much of a turn the input uses. Each input counts for some bytes, so that a turn is bounded even without bytes.
  fileprivate var size: Int {
    switch self {
    case .take(let bytes, _), .receive(let bytes, _): bytes.count + 64
    case .add, .remove, .timing, .timePassed, .space, .ask, .end: 64
    }
  }
}
