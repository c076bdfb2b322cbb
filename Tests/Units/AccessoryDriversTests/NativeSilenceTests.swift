// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyEV3
import FamilyEV3Simulator
import FamilyHM10
import FamilyHM10Simulator
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyAF1

/// What a native accessory leaves unanswered hides nothing else, and is asked rarely: the policy of described protocols. The simulators
/// answer in memory, and the test is the clock.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NativeSilenceTests {
  private let clock = ManualClock()
  /// Requests that stay unanswered, by their bytes, and all that came.
  private let silent = Watched<Set<[UInt8]>>([])
  private let asked = Watched<[[UInt8]]>([])

  /// Whether the accessory answers this request.
  private func answers(_ request: [UInt8]) -> Bool {
    asked.update { $0.append(request) }
    return !silent.value.contains(request)
  }

  /// Moves the clock on until `body` is done.
  private func timed<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    let (clock, silent, asked) = (clock, silent, asked)
    let time = Task {
      while !Task.isCancelled {
        try await clock.waitForPending()
        // An answer that is on its way comes before its time limit, however slow the threads are.
        if let last = asked.value.last, !silent.value.contains(last) {
          try await Task.sleep(for: .milliseconds(10) * Patience.factor)
        }
        clock.advanceToNext()
        await Task.yield()
      }
    }
    defer { time.cancel() }
    return try await body()
  }

  /// The requests that are made by `body`.
  private func requests(_ body: () async throws -> Void) async throws -> [[UInt8]] {
    asked.update { $0 = [] }
    try await body()
    return asked.value
  }

  // MARK: - The accessories

  private func gadget() async throws -> AF1Accessory {
    let scripted = ScriptedAccessory { request in
      guard request.command != .hello, answers([request.command.rawValue]) else { return .silence }
      switch request.command {
      case .battery: return (try? AF1BatteryReply(level: .high, percent: 57).encoded()).map { .reply($0) } ?? .silence
      case .status: return (try? AF1StatusReply(state: .idle).encoded()).map { .reply($0) } ?? .silence
      default: return .refusal(3)
      }
    }
    let session = AccessorySession(scripted.inMemory(label: "gadget"))
    return try await timed { try await AF1Accessory.open(session, clock: clock) }
  }

  private func brick() async throws -> EV3Brick {
    let device = Watched(EV3Device(EV3Device.Configuration()))
    let codec = Watched(EV3Limits.codec)
    let transport = MemoryTransport(label: "brick") { transport, bytes in
      let messages = codec.update { codec in
        var batch = FrameBatch<LengthPrefix>()
        codec.decode(bytes.span.bytes, into: &batch)
        return (0..<batch.count).compactMap { try? EV3Message(decoding: batch.payloadBytes(at: $0)) }
      }
      for message in messages where answers(message.body) {
        for reply in device.update({ $0.take(message, now: clock.now) }) {
          if let bytes = try? reply.encoded() { transport.receive(bytes) }
        }
      }
    }
    return try await timed { try await EV3Brick.open(AccessorySession(transport), clock: clock) }
  }

  private func module() async throws -> HM10Module {
    let device = Watched(HM10Device(HM10Device.Configuration()))
    let transport = MemoryTransport(label: "module") { transport, bytes in
      guard answers(bytes) else { return }
      for case .send(let reply) in device.update({ $0.take(bytes) }) { transport.receive(reply.encoded) }
    }
    return try await timed { try await HM10Module.open(AccessorySession(transport), clock: clock) }
  }

  // MARK: - A part of the state

  /// The battery was told, and then isn't any more. The status is told nevertheless; after three silences the battery is unknown, and
  /// is asked rarely.
  private func check(_ accessory: some LinkedAccessory, battery: [[UInt8]]) async throws {
    let poll = AccessoryPoll.readings()
    let whole = try await timed { try await accessory.poll(poll) }
    #expect(whole.count == 2 && accessory.unanswered == nil)
    silent.update { $0.formUnion(battery) }
    for _ in 1..<RequestMemory.tolerated {
      #expect(try await timed { try await accessory.poll(poll) } == [whole[0]])
      #expect(accessory.unanswered == nil)
    }
    #expect(try await timed { try await accessory.poll(poll) } == [whole[0], .battery(BatteryReading())])
    #expect(
      accessory.unanswered?.hasSuffix(
        "does not answer battery, which it is asked rarely now, so values may be missing or old") == true)
    let made = try await requests { _ = try await timed { try await accessory.poll(poll) } }
    #expect(!made.contains(where: battery.contains))
    // It answers again, and is asked again after a minute at the latest.
    silent.update { $0 = [] }
    clock.advance(by: .seconds(60))
    #expect(try await timed { try await accessory.poll(poll) } == whole)
    #expect(accessory.unanswered == nil)
    await accessory.close()
  }

  @Test func aGadgetsSilentBatteryHidesNoStatus() async throws {
    try await check(try await gadget(), battery: [[AF1Command.battery.rawValue]])
  }

  @Test func aBricksSilentBatteryHidesNoStatus() async throws {
    let brick = try await brick()
    let battery = try await requests { _ = try await timed { try await brick.battery() } }
    try await check(brick, battery: battery)
  }

  @Test func aModulesSilentBatteryHidesNoStatus() async throws {
    let module = try await module()
    let battery = try await requests { _ = try await timed { try await module.battery() } }
    try await check(module, battery: battery)
  }

  /// One that was asked by hand meanwhile is silent no more.
  @Test func aReadingByHandCountsToo() async throws {
    let gadget = try await gadget()
    silent.update { $0 = [[AF1Command.battery.rawValue]] }
    _ = try await timed { try await gadget.poll(.readings()) }
    #expect(gadget.unanswered == "gadget does not answer battery, so values may be missing or old")
    silent.update { $0 = [] }
    #expect(try await timed { try await gadget.battery() }.percent == 57)
    #expect(gadget.unanswered == nil)
  }

  /// Nothing that answers is told from nothing that is there.
  @Test func silenceOfEverythingIsAnError() async throws {
    let gadget = try await gadget()
    silent.update { $0 = [[AF1Command.battery.rawValue], [AF1Command.status.rawValue]] }
    let error = await #expect(throws: AccessoryError.self) { try await timed { try await gadget.poll(.readings()) } }
    #expect(error?.kind == .timedOut && gadget.unanswered == nil)
  }

  /// What it has never answered and refuses, it doesn't have.
  @Test func aRefusedPartIsNotMissing() async throws {
    let scripted = ScriptedAccessory { request in
      request.command == .status ? .reply((try? AF1StatusReply(state: .idle).encoded()) ?? []) : .refusal(3)
    }
    let gadget = try await AF1Accessory.open(AccessorySession(scripted.inMemory(label: "gadget")), clock: clock)
    #expect(try await gadget.poll(.readings()) == [.status(AccessoryStatus(state: .idle, reportsFaults: true))])
    #expect(gadget.unanswered == nil)
  }

  // MARK: - An identity of several requests

  private func identity<Module: LinkedAccessory>(_ accessory: Module, count: Int) async throws {
    let whole = try await timed { try await accessory.identify() }
    let made = try await requests { _ = try await timed { try await accessory.identify() } }
    #expect(try await timed { try await accessory.readIdentity() }.missing == nil)
    #expect(made.count == count)
    for request in made {
      silent.update { $0 = [request] }
      let told = try await timed { try await accessory.readIdentity() }
      let texts = [
        (told.name, whole.name), (told.serialNumber, whole.serialNumber),
        (told.firmwareRevision, whole.firmwareRevision), (told.hardwareRevision, whole.hardwareRevision),
      ]
      #expect(texts.count { $0 != $1 } == 1 && texts.allSatisfy { $0 == $1 || $0 == "" }, "\(told)")
      #expect(told.missing?.contains("does not answer") == true)
    }
    // Another reading lacks nothing.
    #expect(try await timed { try await accessory.readStatus() }.missing == nil)
    silent.update { $0 = Set(made) }
    await #expect(throws: AccessoryError.self) { try await timed { try await accessory.identify() } }
    await accessory.close()
  }

  @Test func aBrickTellsTheRestOfItsIdentity() async throws { try await identity(try await brick(), count: 3) }

  @Test func aModuleTellsTheRestOfItsIdentity() async throws {
    // Its version has two commands.
    let module = try await module()
    let whole = try await timed { try await module.identify() }
    silent.update { $0 = [Array("AT+NAME?".utf8)] }
    var told = try await timed { try await module.readIdentity() }
    #expect(
      told.name == "" && told.serialNumber == whole.serialNumber && told.firmwareRevision == whole.firmwareRevision)
    #expect(told.missing == "module does not answer name, so values may be missing or old")
    silent.update { $0 = [Array("AT+VERS?".utf8), Array("AT+VERR?".utf8)] }
    told = try await timed { try await module.readIdentity() }
    #expect(told.name == whole.name && told.firmwareRevision == "" && told.missing?.contains("version") == true)
    await module.close()
  }

  // MARK: - Values of several requests

  @Test func aBrickTellsItsOwnValuesWithoutItsPorts() async throws {
    let brick = try await brick()
    var whole: [AccessoryValue] = []
    let made = try await requests { whole = try await timed { try await brick.values() } }
    #expect(made.count == 2)
    silent.update { $0 = [made[1]] }
    let told = try await timed { try await brick.readValues() }
    #expect(told.value.map(\.name) == whole.map(\.name))
    #expect(told.value.filter { $0.content == nil }.allSatisfy { $0.name.hasPrefix("port_") })
    #expect(told.missing == "brick does not answer ports, so values may be missing or old")
    await brick.close()
  }

  @Test func aModuleTellsOneSettingWithoutTheOther() async throws {
    let module = try await module()
    silent.update { $0 = [Array("AT+ROLE?".utf8)] }
    let told = try await timed { try await module.readValues() }
    #expect(told.value.filter { $0.content != nil }.map(\.name) == ["connected", "transmit_power"])
    #expect(told.missing == "module does not answer role, so values may be missing or old")
    await module.close()
  }
}
