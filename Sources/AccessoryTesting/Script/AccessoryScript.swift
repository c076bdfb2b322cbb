// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A simulated accessory that follows a script: which bytes it expects, which bytes it sends and when, and when it is
/// unplugged.
///
/// Give `transport` to an `AccessorySession`. The script runs by itself, on the threads that write and on its clock's
/// thread. If other bytes come than the script expects, the transport ends with an error that says what was wrong.
/// `check`, `finish` and the waits of its `ManualClock` then throw the same error, so that a test fails at once and with a
/// reason.
///
///     let script = AccessoryScript([.expect([0x05]), .send([0x06], after: .milliseconds(20))])
///     let session = AccessorySession(script.transport)
///     …
///     try await script.finish()
public final class AccessoryScript: Sendable {
  /// One step of a script. It begins when the step before it is done.
  public struct Step: Sendable, Hashable {
    enum Action: Sendable, Hashable {
      case expect([UInt8])
      case send([UInt8])
      case unplug
    }

    let action: Action
    var delay = Duration.zero

    /// Waits until these bytes are written, in any number of pieces. Bytes that were written during earlier steps
    /// count, too.
    public static func expect(_ bytes: [UInt8]) -> Step { Step(action: .expect(bytes)) }

    /// Sends bytes when `delay` has passed.
    public static func send(_ bytes: [UInt8], after delay: Duration = .zero) -> Step {
      Step(action: .send(bytes), delay: delay)
    }

    /// Unplugs the accessory when `delay` has passed.
    public static func unplug(after delay: Duration = .zero) -> Step { Step(action: .unplug, delay: delay) }
  }

  private struct State: Sendable {
    var steps: ArraySlice<Step>
    var written: [UInt8] = []
    /// Whether a thread is performing a step. Other threads then leave the steps to that thread.
    var isActing = false
    /// Whether the script waits for the delay of the current step.
    var isWaiting = false
    var isOver = false
    var problem: AccessoryError?

    /// The number of the current step, from 1.
    var number: Int { steps.startIndex + 1 }
    var isThrough: Bool { isOver || (steps.isEmpty && !isActing) }
  }

  private enum Effect {
    case send([UInt8])
    case unplug
    case wait(Duration)
    case fail(AccessoryError)
  }

  /// The transport of the accessory, for an `AccessorySession`.
  public let transport: MemoryTransport
  private let clock: any TimerClock
  private let state: Watched<State>

  /// A script of these steps. `clock` times the delays: pass the same `ManualClock` as to the `Link`, or use the
  /// default for real time. `line` is the serial line of the simulated accessory, if it has one.
  public init(
    _ steps: [Step], label: String = "scripted accessory", line: MemoryLine? = nil,
    clock: any TimerClock = IOThread.shared
  ) {
    let state = Watched(State(steps: steps[...]))
    self.state = state
    self.clock = clock
    // The transport is made first. It keeps the script alive until the transport ends.
    // In a structure: a closure by itself in a generic value is wrapped once more at each access.
    struct Listener: Sendable { var heard: (@Sendable ([UInt8]?) -> Void)? }
    let listener = Locked(Listener())
    transport = MemoryTransport(
      label: label, line: line,
      onWritten: { _, bytes in listener.withLock { $0.heard }?(bytes) },
      onEnd: { _ in
        let last = listener.withLock { listener in
          defer { listener.heard = nil }
          return listener.heard
        }
        last?(nil)
      })
    listener.withLock { $0.heard = { [self] bytes in if let bytes { take(bytes) } else { ended() } } }
    act()
  }

  // MARK: - Outcome

  /// Whether all steps are done, and no other bytes were written.
  public var isDone: Bool { state.value.isThrough && outcome(state.value) == nil }

  /// Throws `badData` if something went wrong or a step isn't done yet; the message says what or which.
  public func check() throws(AccessoryError) {
    if let error = outcome(state.value) { throw error }
  }

  /// Waits until all steps are done, something went wrong, or the session was closed. Throws what `check` throws, and
  /// `cancelled` when the task is cancelled.
  public func finish() async throws(AccessoryError) {
    guard let last = try? await state.wait(until: { $0.isThrough }) else {
      throw AccessoryError(.cancelled, "\(transport.label): nobody waits for the end of the script any more")
    }
    if let error = outcome(last) { throw error }
  }

  private func outcome(_ state: State) -> AccessoryError? {
    if let problem = state.problem { return problem }
    guard let step = state.steps.first else {
      return state.written.isEmpty ? nil : fault("after the last step came \(Self.show(state.written))")
    }
    switch step.action {
    case .expect(let bytes):
      return fault(state, "\(Self.show(bytes)) was expected, and so far came \(Self.show(state.written))")
    case .send(let bytes): return fault(state, "\(Self.show(bytes)) was not sent yet")
    case .unplug: return fault(state, "it was not unplugged yet")
    }
  }

  private func fault(_ state: State, _ text: String) -> AccessoryError {
    fault("step \(state.number) of its script: \(text)")
  }

  private func fault(_ text: String) -> AccessoryError { AccessoryError(.badData, "\(transport.label): \(text)") }

  private static func show(_ bytes: [UInt8]) -> String {
    if bytes.isEmpty { return "nothing" }
    let shown = bytes.prefix(64).map { Hexadecimal.string([$0]) }.joined(separator: " ")
    return bytes.count > 64 ? "\(shown) … (\(bytes.count) bytes)" : shown
  }

  // MARK: - Steps

  private func take(_ bytes: [UInt8]) {
    state.update { if !$0.isOver { $0.written += bytes } }
    act()
  }

  private func ended() { state.update { $0.isOver = true } }

  private func act() {
    while let deed = state.update({ [self] in next(&$0) }) {
      switch deed {
      case .send(let bytes): transport.receive(bytes)
      case .unplug: transport.unplug()
      case .fail(let error):
        transport.end(error)
        (clock as? ManualClock)?.fail(error)
      case .wait(let delay): wait(delay)
      }
      state.update { $0.isActing = false }
    }
  }

  private func wait(_ delay: Duration) {
    _ = clock.schedule(at: clock.now + delay) { [self] in
      state.update { state in
        state.isWaiting = false
        state.steps[state.steps.startIndex].delay = .zero
      }
      act()
    }
  }

  /// The action to perform now; nil if another thread performs one, a delay runs, or more bytes must be written first.
  private func next(_ state: inout State) -> Effect? {
    guard !state.isActing, !state.isOver, !state.isWaiting else { return nil }
    while let step = state.steps.first {
      if step.delay > .zero {
        (state.isWaiting, state.isActing) = (true, true)
        return .wait(step.delay)
      }
      switch step.action {
      case .expect(let bytes):
        guard state.written.starts(with: bytes.prefix(state.written.count)) else {
          let error = fault(state, "\(Self.show(bytes)) was expected, and came \(Self.show(state.written))")
          return fail(error, &state)
        }
        guard state.written.count >= bytes.count else { return nil }
        state.written.removeFirst(bytes.count)
        state.steps.removeFirst()
      case .send(let bytes):
        state.steps.removeFirst()
        state.isActing = true
        return .send(bytes)
      case .unplug:
        state.steps.removeFirst()
        (state.isActing, state.isOver) = (true, true)
        return .unplug
      }
    }
    guard !state.written.isEmpty else { return nil }
    return fail(fault("after the last step came \(Self.show(state.written))"), &state)
  }

  private func fail(_ error: AccessoryError, _ state: inout State) -> Effect {
    (state.problem, state.isOver, state.isActing) = (error, true, true)
    return .fail(error)
  }
}
