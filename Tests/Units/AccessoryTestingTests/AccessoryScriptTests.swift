// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct AccessoryScriptTests {
  private func read(_ session: AccessorySession, _ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in session.input {
      bytes += piece
      if bytes.count >= count { break }
    }
    return bytes
  }

  @Test func aScriptsBytesMayComeInAnyPieces() async throws {
    let script = AccessoryScript([
      .send([9]), .expect([1, 2, 3]), .send([4]), .send([5, 6]), .expect([7]), .expect([8]),
    ])
    let session = AccessorySession(script.transport)
    #expect(try await read(session, 1) == [9])
    #expect(!script.isDone)
    try await session.write([1])
    try await session.write([2, 3, 7])
    #expect(try await read(session, 3) == [4, 5, 6])
    #expect(!script.isDone)
    try await session.write([8])
    try await script.finish()
    #expect(script.isDone)
    await session.close()
    try script.check()
  }

  @Test func delaysAreThoseOfItsClock() async throws {
    let clock = ManualClock()
    let script = AccessoryScript(
      [.expect([1]), .send([2], after: .seconds(10)), .send([3], after: .seconds(5)), .unplug(after: .seconds(1))],
      label: "gadget", clock: clock)
    let session = AccessorySession(script.transport)
    #expect(clock.pendingCount == 0, "the time of a step begins when the one before is done")
    try await session.write([1])
    clock.advance(by: .seconds(10) + .nanoseconds(-1))
    #expect(script.transport.input.count == 0)
    clock.advance(by: .nanoseconds(1))
    #expect(try await read(session, 1) == [2])
    clock.advance(by: .seconds(5))
    #expect(try await read(session, 1) == [3])
    clock.advance(by: .seconds(1))
    try await script.finish()
    let error = await #expect(throws: AccessoryError.self) { try await session.write([1]) }
    #expect(error == .disconnected("gadget"))
  }

  /// What the host writes ahead waits for its step.
  @Test func bytesWrittenAheadWaitForTheirStep() async throws {
    let clock = ManualClock()
    let script = AccessoryScript(
      [.expect([1]), .send([2], after: .seconds(10)), .expect([3, 4])], label: "gadget", clock: clock)
    let session = AccessorySession(script.transport)
    try await session.write([1, 3])
    try await session.write([4])
    #expect(!script.isDone)
    clock.advance(by: .seconds(10))
    try await script.finish()
    await session.close()
  }

  @Test(
    arguments: [
      (
        [.expect([1, 2, 0xA5]), .send([9])], [1, 2, 0xA6],
        "step 1 of its script: 01 02 a5 was expected, and came 01 02 a6"
      ),
      ([.expect([1]), .expect([2])], [1, 3], "step 2 of its script: 02 was expected, and came 03"),
      ([.send([5]), .expect([1])], [1, 7, 8], "after the last step came 07 08"),
      ([], [0], "after the last step came 00"),
    ] as [([AccessoryScript.Step], [UInt8], String)])
  func whatIsNotExpectedEndsItWithTheReason(
    _ steps: [AccessoryScript.Step], _ written: [UInt8], _ said: String
  ) async throws {
    let script = AccessoryScript(steps, label: "gadget")
    let session = AccessorySession(script.transport)
    try await session.write(written)
    let expected = AccessoryError(.badData, "gadget: " + said)
    let atHost = await #expect(throws: AccessoryError.self) {
      for try await _ in session.input {}
    }
    #expect(atHost == expected, "the code under test fails at once")
    #expect(throws: expected) { try script.check() }
    await #expect(throws: expected) { try await script.finish() }
    #expect(!script.isDone)
  }

  @Test(
    arguments: [
      ([.expect([1, 2, 3])], "step 1 of its script: 01 02 03 was expected, and so far came 01 02"),
      ([.expect([1, 2]), .send([3], after: .seconds(1))], "step 2 of its script: 03 was not sent yet"),
      ([.expect([1, 2]), .unplug(after: .seconds(1))], "step 2 of its script: it was not unplugged yet"),
    ] as [([AccessoryScript.Step], String)])
  func anUnfinishedScriptSaysWhatIsMissing(_ steps: [AccessoryScript.Step], _ said: String) async throws {
    let script = AccessoryScript(steps, label: "gadget", clock: ManualClock())
    let session = AccessorySession(script.transport)
    try await session.write([1, 2])
    let expected = AccessoryError(.badData, "gadget: " + said)
    #expect(throws: expected) { try script.check() }
    let finishing = Task { try await script.finish() }
    await session.close()
    await #expect(throws: expected) { try await finishing.value }
  }

  /// A wait for the clock ends with the script that is wrong: no timeout will ever be set.
  @Test func aMismatchEndsTheWaitsForItsClock() async throws {
    let clock = ManualClock()
    let script = AccessoryScript([.expect([1, 2])], label: "gadget", clock: clock)
    let session = AccessorySession(script.transport)
    let expected = AccessoryError(.badData, "gadget: step 1 of its script: 01 02 was expected, and came 01 03")
    let before = Task { try await clock.waitForPending() }
    try await session.write([1, 3])
    await #expect(throws: expected) { try await before.value }
    await #expect(throws: expected) { try await clock.waitForPending() }
    await #expect(throws: expected) { try await clock.waitForSchedule(after: 0) }
  }

  @Test func anUnplugEndsNoWaitForItsClock() async throws {
    let clock = ManualClock()
    let script = AccessoryScript([.unplug()], clock: clock)
    try await script.finish()
    let wait = Task { try await clock.waitForPending() }
    _ = clock.schedule(at: clock.now) {}
    try await wait.value
  }

  /// Whatever ends the code under test ends the wait for it.
  @Test func aWaitForTheClockLastsAsLongAsTheCodeUnderTest() async throws {
    let clock = ManualClock()
    let unplugged = MemoryTransport(label: "gadget")
    let session = AccessorySession(unplugged)
    let reading = Task { for try await _ in session.input {} }
    let wait = Task { try await clock.waitForPending(during: reading) }
    unplugged.unplug()
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await wait.value }
    let ended = Task {}
    let error = await #expect(throws: AccessoryError.self) { try await clock.waitForPending(during: ended) }
    #expect(error?.kind == .cancelled)
    let sleeper = Task {
      await withCheckedContinuation { done in _ = clock.schedule(at: clock.now + .seconds(1)) { done.resume() } }
    }
    try await clock.waitForPending(during: sleeper)
    clock.advance(by: .seconds(1))
    await sleeper.value
  }

  @Test func aWaitForBytesEndsWithTheTransport() async throws {
    let transport = MemoryTransport(label: "gadget")
    let wait = Task { try await transport.nextWritten(3) }
    _ = transport.output.offer([1, 2])
    transport.unplug()
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await wait.value }
    #expect(try await transport.nextWritten(2) == [1, 2])
    let closed = MemoryTransport(label: "gadget")
    await closed.close()
    let error = await #expect(throws: AccessoryError.self) { try await closed.nextWritten(1) }
    #expect(error?.kind == .cancelled)
    let full = MemoryTransport(label: "gadget", inputHighWater: 1)
    full.receive([1, 2, 3])
    #expect(full.isPaused)
    full.unplug()
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await full.waitForResume() }
  }

  @Test func aCancelledFinishEndsAsCancelled() async throws {
    let script = AccessoryScript([.expect([1])])
    let finishing = Task { try await script.finish() }
    finishing.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await finishing.value }
    #expect(error?.kind == .cancelled)
  }

  /// Whoever holds the session holds the accessory.
  @Test func aSessionKeepsItsScript() async throws {
    let session = AccessorySession(AccessoryScript([.expect([1]), .send([2])]).transport)
    try await session.write([1])
    #expect(try await read(session, 1) == [2])
    await session.close()
  }

  @Test func aScriptWorksOnALine() async throws {
    let line = MemoryLine(LineStatus(baudRate: 9_600, modemLines: [.cts]))
    let script = AccessoryScript([], line: line)
    let session = AccessorySession(script.transport)
    let control = try #require(session.line)
    #expect(session.transport.timing == .serial(baudRate: 9_600))
    #expect(try await control.change(.init(baudRate: 19_200, parity: .even)).baudRate == 19_200)
    #expect(session.transport.timing == .serial(baudRate: 19_200, bits: 11))
    try await control.set(raising: [.dtr], lowering: [.rts])
    #expect(try await control.modemLines() == [.cts, .dtr])
    let clock = ManualClock()
    let sending = Task { try await control.sendBreak(for: .milliseconds(250), clock: clock) }
    try await line.state.wait { $0.isBreaking }
    try await clock.waitForPending()
    clock.advance(by: .milliseconds(250))
    try await sending.value
    #expect(!line.state.value.isBreaking && line.state.value.breakCount == 1)
    try await control.purge(.received)
    #expect(line.state.value.purges == [.received])
    let input = await #expect(throws: AccessoryError.self) { try await control.set(.cts, true) }
    #expect(input?.kind == .misconfigured)
    let rate = await #expect(throws: AccessoryError.self) { try await control.change(.init(baudRate: 0)) }
    #expect(rate?.kind == .misconfigured)
    script.transport.unplug()
    let error = await #expect(throws: AccessoryError.self) { try await control.status() }
    #expect(error?.kind == .disconnected)
    let without = MemoryLine(LineStatus(baudRate: 9_600), label: "gadget")
    let missing = await #expect(throws: AccessoryError.self) { try await without.set(.dtr, true) }
    #expect(missing?.kind == .unsupported)
  }
}
