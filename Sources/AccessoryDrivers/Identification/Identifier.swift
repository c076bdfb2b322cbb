// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// Carries out an `IdentificationPlan` over an open port. Stops after the first step that finds an accessory.
///
/// It sends only what the plan's steps contain.
public struct Identifier {
  /// Progress of the identification.
  public enum Event: Sendable {
    /// A step begins. Steps are counted from 1.
    case began(Int)
    /// A step has ended; `hasFound` says whether it has found an accessory.
    case ended(Int, hasFound: Bool)
    /// A step was skipped because the line can't do what it needs; with the reason.
    case skipped(Int, String)
  }

  private let plan: IdentificationPlan
  private let session: AccessorySession
  private let clock: any TimerClock
  private let tell: @Sendable (Event) -> Void
  private var outcome = IdentificationOutcome()
  private var arrivals: ByteStream.Iterator
  /// DTR and RTS as they were when the port was opened; nil when the port has no modem lines.
  private var outputs: ModemLines?
  private var raised: ModemLines = []
  /// When the time is over that the plan may take.
  private var end = MonotonicTime(nanoseconds: .max)

  /// How long a cable that is powered by modem lines needs until it carries bytes.
  static let powerUp = Duration.milliseconds(200)
  /// How long a step's other kinds may take to answer after the first has answered.
  private static let others = Duration.milliseconds(300)

  /// Performs `plan` over `session`. Nothing else may read from the session in the meantime; it stays open. `tell` is
  /// called between the steps, and must not block.
  ///
  /// Throws the error that ended the session, `cancelled` when the task is cancelled, and what changing the line
  /// throws, except `unsupported`, which skips a step. Afterwards DTR and RTS are as they were before.
  public static func run(
    _ plan: IdentificationPlan, over session: AccessorySession, clock: any TimerClock = IOThread.shared,
    tell: @escaping @Sendable (Event) -> Void = { _ in }
  ) async throws(AccessoryError) -> IdentificationOutcome {
    try await run(plan, plan.steps.indices, after: IdentificationOutcome(), over: session, clock: clock, tell: tell)
  }

  /// Opens the device of `opener` and performs the plan. A Bluetooth Low Energy device is connected once, and each pair of
  /// characteristics that it has is opened over this connection, one after another. Throws what opening and `run(_:over:)` throw.
  public static func run(
    _ plan: IdentificationPlan, opening opener: DeviceOpener, tell: @escaping @Sendable (Event) -> Void = { _ in }
  ) async throws(AccessoryError) -> IdentificationOutcome {
    let link = plan.isOnAir ? try await opener.general?.open() : nil
    return try await attempt { () async throws(AccessoryError) in
      var outcome = IdentificationOutcome()
      for (gatt, steps) in plan.parts where outcome.found.isEmpty {
        var opener = opener
        if let gatt { opener.settings.gatt = gatt }
        let session: AccessorySession
        do throws(AccessoryError) {
          session = try await opener.unguardedSession()
        } catch {
          guard gatt != nil, error.kind == .unsupported else { throw error }
          for step in steps {
            outcome.skipped[step + 1] = "the device doesn't have its characteristics"
            tell(.skipped(step + 1, "the device doesn't have its characteristics"))
          }
          continue
        }
        let before = outcome
        outcome = try await attempt { () async throws(AccessoryError) in
          try await run(plan, steps, after: before, over: session, clock: opener.clock, tell: tell)
        } finally: {
          // Closing restores the port's settings, also after an error.
          await session.close()
        }
      }
      return outcome
    } finally: {
      await link?.close()
    }
  }

  /// Performs these steps of the plan, and adds to what was found before.
  private static func run(
    _ plan: IdentificationPlan, _ steps: Range<Int>, after before: IdentificationOutcome,
    over session: AccessorySession, clock: any TimerClock, tell: @escaping @Sendable (Event) -> Void
  ) async throws(AccessoryError) -> IdentificationOutcome {
    var identifier = Identifier(plan, session, clock, tell)
    identifier.outcome = before
    await identifier.lookAtOutputs()
    let result: Result<Void, AccessoryError>
    do throws(AccessoryError) {
      try await identifier.run(steps)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    await identifier.putBack()
    try result.get()
    return identifier.outcome
  }

  private init(
    _ plan: IdentificationPlan, _ session: AccessorySession, _ clock: any TimerClock,
    _ tell: @escaping @Sendable (Event) -> Void
  ) {
    (self.plan, self.session, self.clock, self.tell) = (plan, session, clock, tell)
    arrivals = session.input.makeAsyncIterator()
  }

  private mutating func run(_ steps: Range<Int>) async throws(AccessoryError) {
    end = clock.now + plan.longest(of: steps)
    for (index, step) in zip(steps, plan.steps[steps]) {
      guard clock.now < end else {
        let reason = "the time is over: try it alone, with --only \(step.kinds.joined(separator: ","))"
        outcome.skipped[index + 1] = reason
        tell(.skipped(index + 1, reason))
        continue
      }
      do throws(AccessoryError) {
        try await set(step.line)
      } catch {
        guard error.kind == .unsupported else { throw error }
        outcome.skipped[index + 1] = error.message
        tell(.skipped(index + 1, error.message))
        continue
      }
      outcome.stepCount += 1
      tell(.began(index + 1))
      try await carryOut(step, number: index + 1)
      tell(.ended(index + 1, hasFound: !outcome.found.isEmpty))
      if !outcome.found.isEmpty { return }
    }
  }

  // MARK: - Steps

  private mutating func carryOut(_ step: IdentificationStep, number: Int) async throws(AccessoryError) {
    // Waits for silence, so that a late reply to an earlier request isn't taken for one to this step's.
    if !step.isListening { try await listen(step, for: session.transport.timing.silence) }
    for _ in 0..<step.times {
      var probes = step.candidates.map(\.probe)
      for sending in step.sends.dropLast() {
        try await session.write(sending.bytes)
        try await listen(step, for: sending.pause + session.transport.timing.time(of: sending.bytes.count))
      }
      let start = clock.now
      for place in probes.indices { probes[place].start(now: start, timing: session.transport.timing) }
      if let last = step.sends.last { try await session.write(last.bytes) }
      let patience = step.isListening ? step.timeout : step.patience(session.transport.timing)
      try await follow(step, &probes, until: min(start + patience, end))
      if judge(probes, step, number) { break }
    }
    guard !outcome.found.isEmpty, !step.farewell.isEmpty else { return }
    try await session.write(step.farewell)
    try await listen(step, for: IdentificationStep.farewellTime)
  }

  /// Passes received bytes to the probes until all have an outcome, or one has found its kind and the others have had
  /// time to answer as well, or until `limit`.
  private mutating func follow(
    _ step: IdentificationStep, _ probes: inout [any KindProbe], until limit: MonotonicTime
  ) async throws(AccessoryError) {
    var limit = limit
    var hasFit = false
    var echo = EchoFilter(of: step.sends.last?.bytes ?? [])
    while probes.contains(where: { $0.outcome == nil }) {
      if !hasFit, probes.contains(where: { if case .fits = $0.outcome { true } else { false } }) {
        hasFit = true
        limit = min(limit, clock.now + Self.others)
      }
      guard clock.now < limit else { return }
      // A probe without a deadline ends at the step's limit.
      let next = probes.compactMap(\.deadline).min().map { min($0, limit) } ?? limit
      let arrived = try await arrivals.next(until: next, clock: clock)
      let now = clock.now
      if !arrived.isEmpty { hear(arrived, step) }
      let bytes = echo.filter(arrived)
      if echo.hasFound { noteEcho(step) }
      for place in probes.indices {
        if !bytes.isEmpty { probes[place].take(bytes, now: now) }
        if let deadline = probes[place].deadline, deadline <= now { probes[place].timePassed(now: now) }
      }
    }
  }

  /// Records the outcomes of the probes. Returns whether the step is over.
  private mutating func judge(_ probes: [any KindProbe], _ step: IdentificationStep, _ number: Int) -> Bool {
    var refused = false
    for (candidate, probe) in zip(step.candidates, probes) {
      switch probe.outcome {
      case .fits(let facts):
        outcome.found.append(
          IdentificationFind(kind: candidate.kind, step: number, line: step.line, facts: facts))
      case .refused(let reason):
        refused = true
        if !outcome.refusals.contains(where: { $0.name == candidate.kind }) {
          outcome.refusals.append(.init(candidate.kind, reason))
        }
      case .nothing, nil: break
      }
    }
    return refused || !outcome.found.isEmpty
  }

  // MARK: - Received bytes

  /// Receives bytes for this time and records them as noise.
  private mutating func listen(_ step: IdentificationStep, for time: Duration) async throws(AccessoryError) {
    let end = clock.now + time
    while clock.now < end {
      let bytes = try await arrivals.next(until: end, clock: clock)
      if !bytes.isEmpty { hear(bytes, step) }
    }
  }

  private mutating func hear(_ bytes: [UInt8], _ step: IdentificationStep) {
    let rate = step.line?.baudRate
    let place = outcome.noise.firstIndex { $0.baudRate == rate }
    var noise = place.map { outcome.noise[$0] } ?? IdentificationNoise(baudRate: rate)
    noise.take(bytes)
    if let place { outcome.noise[place] = noise } else { outcome.noise.append(noise) }
  }

  private mutating func noteEcho(_ step: IdentificationStep) {
    guard let place = outcome.noise.firstIndex(where: { $0.baudRate == step.line?.baudRate }) else { return }
    outcome.noise[place].isEcho = true
  }

  // MARK: - The line

  private mutating func lookAtOutputs() async {
    guard let line = session.line, let lines = try? await line.modemLines() else { return }
    outputs = lines.intersection([.dtr, .rts])
    raised = lines.intersection([.dtr, .rts])
  }

  private mutating func set(_ settings: TerminalSettings?) async throws(AccessoryError) {
    guard let settings, let line = session.line else { return }
    try await line.change(
      LineChanges(
        baudRate: settings.baudRate, dataBits: settings.dataBits, parity: settings.parity,
        stopBits: settings.stopBits, flowControl: settings.flowControl))
    try await setOutputs(settings)
    try? await line.purge(.received)
  }

  /// Sets DTR and RTS to what the kind's line needs, or else to what they were at the beginning.
  private mutating func setOutputs(_ settings: TerminalSettings) async throws(AccessoryError) {
    guard let outputs, let line = session.line else { return }
    var wanted = outputs
    for (bit, state) in [(ModemLines.dtr, settings.dtr), (.rts, settings.rts)] where state != .keep {
      if state == .on { wanted.insert(bit) } else { wanted.remove(bit) }
    }
    // Hardware flow control drives RTS, so it isn't set.
    if settings.flowControl == .hardware { wanted = wanted.subtracting(.rts).union(raised.intersection(.rts)) }
    guard wanted != raised else { return }
    try await line.set(raising: wanted.subtracting(raised), lowering: raised.subtracting(wanted))
    raised = wanted
    await clock.sleep(for: Self.powerUp)
  }

  private func putBack() async {
    guard let outputs, outputs != raised, let line = session.line else { return }
    try? await line.set(raising: outputs.subtracting(raised), lowering: raised.subtracting(outputs))
  }
}
