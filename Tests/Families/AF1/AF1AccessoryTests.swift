// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyAF1

/// The `framed` driver, with the test as the accessory and as the clock.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct AF1AccessoryTests {
  /// Opens an accessory whose answers `answer` decides.
  private func open(
    clock: any TimerClock = ManualClock(),
    _ answer: @escaping @Sendable (ScriptedAccessory.Request) -> ScriptedAccessory.Answer
  ) async throws -> (AF1Accessory, MemoryTransport, ScriptedAccessory) {
    let scripted = ScriptedAccessory(answer: answer)
    let transport = scripted.inMemory(label: "gadget")
    let accessory = try await AF1Accessory.open(AccessorySession(transport), clock: clock)
    return (accessory, transport, scripted)
  }

  /// An accessory that gives this answer to all but HELLO.
  private func open(answering payload: [UInt8]) async throws -> AF1Accessory {
    try await open { $0.command == .hello ? .silence : .reply(payload) }.0
  }

  private func error(_ body: () async throws(AccessoryError) -> Void) async -> AccessoryError? {
    do throws(AccessoryError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: - Good answers

  /// What STATUS has told is asked for once; a progress that isn't told is unknown, and keeps its name.
  @Test func valuesComeFromTheStatusAndTheGreeting() async throws {
    let (accessory, _, scripted) = try await open { request in
      switch request.command {
      case .hello: .reply([4, 3, 2, 1, 0, 16, 2, 0])
      case .status: .reply([1, 7, 0, 0xFF])
      default: .silence
      }
    }
    #expect(
      try await accessory.values() == [
        AccessoryValue("state", quantity: .state, content: .choice(word: "busy", number: 1)),
        AccessoryValue("fault_code", quantity: .problem, number: 7),
        AccessoryValue("progress", quantity: .ratio, unit: .percent, number: nil),
        AccessoryValue("boot_id", quantity: .identity, content: .text("01020304")),
        AccessoryValue("largest_payload", quantity: .dataSize, unit: .byte, number: 4_096),
        AccessoryValue("window", quantity: .count, number: 2),
      ])
    #expect(scripted.requests.value.map(\.command) == [.hello, .status])
  }

  @Test func requestsOfAF1AreSentAsTheirCommands() async throws {
    let (accessory, _, scripted) = try await open { request in
      switch request.command {
      case .identify: .reply(Array("m\0n\0o\0s\0f\0h\0".utf8))
      case .status: .reply([1, 0, 0, 7])
      case .battery: .reply([2])
      case .echo: .reply(request.payload)
      case AF1Command(rawValue: 0x41): .reply([0xAA, 0xBB])
      default: .silence
      }
    }
    #expect(accessory.label == "gadget")
    #expect(try await accessory.identify().serialNumber == "s")
    #expect(try await accessory.status() == AccessoryStatus(state: .busy, progress: 7, reportsFaults: true))
    #expect(try await accessory.battery() == BatteryReading(level: .normal))
    #expect(try await accessory.echo([1, 2, 3]) == [1, 2, 3])
    #expect(try await accessory.request(AF1Command(rawValue: 0x41), payload: [5]) == [0xAA, 0xBB])
    let sent = scripted.requests.value
    #expect(sent.map(\.command.rawValue) == [0, 1, 2, 3, 0x7E, 0x41])
    #expect(sent.map(\.payload).dropFirst() == [[], [], [], [1, 2, 3], [5]])
    #expect(zip(sent, sent.dropFirst()).allSatisfy { $0.number &+ 1 == $1.number })
    await accessory.close()
  }

  /// Later accessories may say more.
  @Test func longerAnswersThanKnownAreRead() async throws {
    let accessory = try await open(answering: [2, 57, 0x80, 0x0E, 2, 1, 2, 3])
    #expect(try await accessory.battery().percent == 57)
    #expect(try await accessory.status().state == .paused)
    await accessory.close()
  }

  // MARK: - Answers that make no sense

  @Test(arguments: [[], [1, 0, 0]] as [[UInt8]]) func aStatusThatIsTooShortIsBadData(payload: [UInt8]) async throws {
    let accessory = try await open(answering: payload)
    let error = await error { () throws(AccessoryError) in _ = try await accessory.status() }
    #expect(error?.kind == .badData)
    #expect(error?.message.contains("gadget sent an invalid reply to STATUS") == true)
    await accessory.close()
  }

  @Test func anEmptyBatteryReplyIsBadData() async throws {
    let accessory = try await open(answering: [])
    let error = await error { () throws(AccessoryError) in _ = try await accessory.battery() }
    #expect(error?.kind == .badData)
    #expect(error?.message.contains("gadget sent an invalid reply to BATTERY") == true)
    await accessory.close()
  }

  @Test(
    arguments: [
      [], Array("m\0n\0o\0s\0f\0h".utf8), Array("m\0n\0".utf8),
      Array("m\0n\0o\0s\0f\0".utf8) + [UInt8](repeating: 0x68, count: 257) + [0],
    ] as [[UInt8]])
  func aWrongIdentityHarmsNoLaterRequest(payload: [UInt8]) async throws {
    let accessory = try await open(answering: payload)
    let error = await error { () throws(AccessoryError) in _ = try await accessory.identify() }
    #expect(error?.kind == .badData)
    // The next request is not harmed.
    #expect(try await accessory.request(AF1Command(rawValue: 0x41)) == payload)
    await accessory.close()
  }

  /// Text that isn't text is repaired: what it was can't be known.
  @Test func invalidTextOfAnIdentityIsRepaired() async throws {
    let accessory = try await open(answering: [0x66, 0xFF, 0, 0xC3, 0, 0, 0, 0, 0])
    let identity = try await accessory.identify()
    #expect(identity.manufacturer == "f\u{FFFD}")
    #expect(identity.name == "\u{FFFD}")
    #expect(identity.model == "")
    await accessory.close()
  }

  @Test func anEchoOfOtherBytesIsBadData() async throws {
    let accessory = try await open(answering: [1, 2, 4])
    let error = await error { () throws(AccessoryError) in _ = try await accessory.echo([1, 2, 3]) }
    #expect(error?.kind == .badData)
    await accessory.close()
  }

  @Test func aRefusalHasItsReasonInWords() async throws {
    let (accessory, _, _) = try await open { $0.command == .hello ? .silence : .refusal(6) }
    let error = await error { () throws(AccessoryError) in _ = try await accessory.battery() }
    #expect(error?.kind == .refused)
    #expect(error?.code == .refusal(6))
    #expect(error?.message == "gadget refuses BATTERY: bad argument")
    await accessory.close()
  }

  // MARK: - Opening

  @Test func anAccessoryThatRefusesHelloWorksAllTheSame() async throws {
    let (accessory, _, _) = try await open { $0.command == .hello ? .refusal(3) : .reply([2]) }
    #expect(try await accessory.battery().level == .normal)
    let tooMuch = await error { () throws(AccessoryError) in
      _ = try await accessory.echo([UInt8](repeating: 0, count: 257))
    }
    #expect(tooMuch?.kind == .misconfigured)
    await accessory.close()
  }

  @Test func aSenselessHelloIsBadData() async throws {
    let failure = await #expect(throws: AccessoryError.self) {
      try await open { $0.command == .hello ? .reply([1, 2, 3]) : .silence }
    }
    #expect(failure?.kind == .badData)
  }

  @Test func openingFailsAfterThreeGreetingsWithoutAnswer() async throws {
    let clock = ManualClock()
    let transport = MemoryTransport(label: "gadget")
    let opening = Task { try await AF1Accessory.open(AccessorySession(transport), clock: clock) }
    for _ in 0..<3 {
      try await clock.waitForPending()
      clock.advanceToNext()
    }
    let failure = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(failure?.kind == .timedOut)
    #expect(failure?.message.contains("gadget does not answer") == true)
    #expect(transport.written.count == 3 * 18, "HELLO, three times")
    #expect(transport.closeCount > 0)
  }

  // MARK: - Going

  @Test func anUnplugFailsTheRequestAndLaterOnes() async throws {
    let (accessory, transport, scripted) = try await open { _ in .silence }
    let request = Task { try await accessory.battery() }
    try await scripted.requests.wait { $0.count == 2 }
    transport.unplug()
    let failure = await #expect(throws: AccessoryError.self) { try await request.value }
    #expect(failure == .disconnected("gadget"))
    let later = await error { () throws(AccessoryError) in _ = try await accessory.status() }
    #expect(later == .disconnected("gadget"))
    await accessory.close()
  }

  @Test func requestsAfterTheCloseAreCancelled() async throws {
    let (accessory, transport, _) = try await open { _ in .silence }
    await accessory.close()
    let later = await error { () throws(AccessoryError) in _ = try await accessory.status() }
    #expect(later?.kind == .cancelled)
    #expect(transport.closeCount > 0)
  }

  // MARK: - Events

  @Test func eventsOfAnAccessoryAreRead() async throws {
    let (accessory, transport, _) = try await open { _ in .silence }
    let events = accessory.events()
    let frames: [(AF1Command, [UInt8])] = [
      (.battery, [1, 12]), (.status, [1, 0, 0, 9]), (.battery, []), (.status, [1]), (AF1Command(rawValue: 0x55), [7]),
    ]
    for (number, frame) in frames.enumerated() {
      transport.receive(ScriptedAccessory.event(frame.0, number: UInt16(number), frame.1))
    }
    transport.unplug()
    var seen: [AF1Accessory.Event] = []
    let failure = await #expect(throws: AccessoryError.self) {
      for try await event in events { seen.append(event) }
    }
    #expect(failure == .disconnected("gadget"))
    #expect(
      seen == [
        .battery(BatteryReading(percent: 12, level: .low)),
        .status(AccessoryStatus(state: .busy, progress: 9, reportsFaults: true)),
        .other(AF1Message(command: .battery, number: 2, payload: [])),
        .other(AF1Message(command: .status, number: 3, payload: [1])),
        .other(AF1Message(command: AF1Command(rawValue: 0x55), number: 4, payload: [7])),
      ])
    await accessory.close()
  }
}
