// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Accessories that send several messages in turn: a reading waits for all of them.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RoundTests {
  /// A shunt sends these two each second; both are of a recording.
  private static let main = UnknownWordTests.block("PID\t0xA389", "V\t53509", "I\t23866", "SOC\t548")
  private static let history = UnknownWordTests.block("H1\t-276495", "H4\t3", "H7\t50422", "H18\t16783")

  private let clock = ManualClock()
  private let transport = MemoryTransport(label: "shunt")

  private func open() async throws -> DescribedAccessory {
    let description = try #require(DescriptionLibrary.builtIn.described("vedirect")).description
    return try await DescribedAccessory.open(AccessorySession(transport), description, clock: clock)
  }

  /// Waits until the reading waits for the accessory, or is done.
  private func begun(_ isDone: Watched<Bool>) async {
    while clock.pendingCount == 0, !isDone.value { await Task.yield() }
  }

  @Test func oneReadingHasBothBlocks() async throws {
    let accessory = try await open()
    let news = accessory.news()
    transport.receive(Self.main)
    for try await case .battery in news { break }
    let isDone = Watched(false)
    let reading = Task {
      defer { isDone.update { $0 = true } }
      return (try await accessory.readBattery(), try await accessory.values())
    }
    await begun(isDone)
    transport.receive(Self.history)
    transport.receive(Self.main)
    let (battery, values) = try await reading.value
    #expect(battery.percent == 54 || battery.percent == 55)
    #expect(battery.cycles == 3, "it is in the second block")
    #expect(values.first { $0.name == "deepest_discharge" }?.number == -276.495)
    #expect(values.first { $0.name == "charged_energy" }?.number == 167.83)
    #expect(battery.missing == nil)
    await accessory.close()
  }

  /// A charger sends one block: where that comes again, nothing else is waited for.
  @Test func aRoundMayBeOneBlock() async throws {
    let accessory = try await open()
    transport.receive(Self.main + Self.main)
    let battery = try await accessory.readBattery()
    #expect(battery.millivolts == 53_509 && battery.cycles == nil && battery.missing == nil)
    await accessory.close()
  }

  /// What came is told, and what didn't come is said.
  @Test(arguments: [true, false]) func anIncompleteRoundSaysWhatIsMissing(hasBegun: Bool) async throws {
    let accessory = try await open()
    transport.receive(hasBegun ? Self.main : Self.history)
    let isDone = Watched(false)
    let reading = Task {
      defer { isDone.update { $0 = true } }
      return try await GuardedAccessory(base: accessory, rules: WriteRules("shunt"), isAsked: false).readBattery()
    }
    let news = accessory.news()
    // The message may have come before the subscription.
    transport.receive(Self.history)
    for try await case .battery(let reading) in news where reading.cycles == 3 { break }
    while !isDone.value {
      clock.advanceToNext()
      await Task.yield()
    }
    let battery = try await reading.value
    #expect(battery.cycles == 3 && battery.millivolts == (hasBegun ? 53_509 : nil))
    let missing = try #require(battery.missing)
    #expect(missing.contains(hasBegun ? "the rest of the round" : "the message with battery.voltage"), "\(missing)")
    #expect(missing.contains("shunt") && missing.contains("values may be missing"), "\(missing)")
    await accessory.close()
  }

  @Test func silenceIsAnError() async throws {
    let accessory = try await open()
    let isDone = Watched(false)
    let reading = Task {
      defer { isDone.update { $0 = true } }
      return try await accessory.battery()
    }
    while !isDone.value {
      clock.advanceToNext()
      await Task.yield()
    }
    let error = await #expect(throws: AccessoryError.self) { try await reading.value }
    #expect(error?.kind == .timedOut)
    await accessory.close()
  }

  @Test func anUnpluggedAccessoryEndsTheReading() async throws {
    let accessory = try await open()
    transport.receive(Self.main)
    let isDone = Watched(false)
    let reading = Task {
      defer { isDone.update { $0 = true } }
      return try await accessory.battery()
    }
    await begun(isDone)
    transport.unplug()
    let error = await #expect(throws: AccessoryError.self) { try await reading.value }
    #expect(error?.kind == .disconnected)
    await accessory.close()
  }

  /// Who takes the news late gets them as they were, and makes nobody else's readings older, nor their age less.
  @Test func lateNewsBringNoOldReadingsBack() async throws {
    let accessory = try await open()
    var late = accessory.news().makeAsyncIterator()
    let prompt = accessory.news()
    let then = clock.bootTime
    transport.receive(Self.main)
    transport.receive(UnknownWordTests.block("V\t48000", "I\t-100", "SOC\t100"))
    for try await case .battery(let reading) in prompt where reading.millivolts == 48_000 { break }
    clock.advance(by: .seconds(5))
    for millivolts in [53_509, 48_000] {
      while let news = try await late.next() {
        guard case .battery(let reading) = news else { continue }
        #expect(reading.millivolts == millivolts)
        break
      }
      #expect(try await accessory.battery().millivolts == 48_000)
      #expect(accessory.toldTime(of: .battery) == then)
    }
    await accessory.close()
    while try await late.next() != nil {}
  }

  /// A round begins with a value that the accessory sends by itself.
  @Test func aRoundBeginsWithAPushedValue() throws {
    let text = """
      protocol: p
      version: 1
      framings: {line: {layout: [data, end: "\\n"]}}
      messages:
        a: {pattern: "A{b}", pushed: true}
        c: {pattern: "C{d}"}
      plan: {round: NAME}
      """
    func problems(_ name: String) -> [String] {
      let bytes = Array(text.replacing("NAME", with: name).utf8)
      do { _ = try DescriptionReader.read(bytes, file: "p.yaml") } catch { return error.problems.map(\.message) }
      return []
    }
    #expect(problems("b").isEmpty)
    #expect(
      problems("d") == ["round: no message with pushed: true has the value \"d\", so no round can begin with it"])
    #expect(problems("[b]") == ["round must be the name of the value that begins a round, not a list"])
  }
}
