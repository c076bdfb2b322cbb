// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryControl

/// A mirror of services that are there, that aren't, and that refuse.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ServiceMirrorTests {
  private static let device = #"{"id":"X1","path":"/dev/x1","source":"udev","links":[],"ways":[],"initialized":true}"#
  private static func event(_ name: String, _ more: String = "") -> String {
    #"{"parameters":{"event":"\#(name)","time":1\#(name == "ready" ? "" : #","device":"# + device)\#(more)},"continues":true}"#
  }
  private static let battery =
    #","battery":{"level":"normal","level_origin":"reported","charge":"charging","percent":61}"#

  /// The answers of a service with one accessory. Its subscription stays open.
  private static func answers(_ events: [String], _ more: String = "") -> [String: [String]] {
    [
      "Subscribe": ["!" + events.joined(separator: "\0")],
      "List": [
        #"{"accessories":[{"device":\#(device),"state":"attached","tries":0,"driver":"d","readings_age_ms":1500\#(more)}]}"#
      ],
    ]
  }

  private let directory: TemporaryDirectory
  private var place: String { directory.path + "/socket" }

  init() throws { directory = try TemporaryDirectory() }

  /// Follows the service at `place` while `body` runs.
  private func following(
    _ mirror: ServiceMirror, trouble: Watched<[AccessoryError]>? = nil, _ body: () async throws -> Void
  ) async throws {
    var hooks = ServiceMirror.Hooks()
    hooks.trouble = { error in trouble?.update { $0.append(error) } }
    let task = Task { [place, hooks] in await mirror.run([.init(place, isExpected: true)], hooks) }
    do { try await body() } catch {
      task.cancel()
      throw error
    }
    task.cancel()
    await task.value
  }

  /// With no service, nothing is scheduled and nothing is tried, however long that lasts.
  @Test func noServiceCostsNothing() async throws {
    let clock = ManualClock()
    let mirror = ServiceMirror([.values, .alarms, .readings, .lists, .freshness], clock: clock)
    let trouble = Watched<[AccessoryError]>([])
    try await following(mirror, trouble: trouble) {
      try await trouble.wait { !$0.isEmpty }
      #expect(trouble.value.map(\.isNoService) == [true])
      for _ in 0..<60 { clock.advance(by: .seconds(60)) }
      #expect(clock.scheduledCount == 0)
      #expect(await mirror.snapshot.services.map(\.isUp) == [false])
      // Files of others in its folder are no sign of it.
      let other = try CannedService(at: directory.path + "/other", [:])
      defer { other.close() }
      // One that starts is found.
      let service = try CannedService(at: place, Self.answers([Self.event("present"), Self.event("ready")]))
      defer { service.close() }
      for await change in await mirror.changes() where change.services.first?.isUp == true { break }
      #expect(trouble.value.count == 1)
    }
  }

  /// A service that is there but ends each connection is tried again after pauses that grow.
  @Test func aRefusingServiceIsTriedAfterGrowingPauses() async throws {
    let clock = ManualClock()
    let service = try CannedService(at: place, ["Subscribe": ["{}", "{}"]])
    defer { service.close() }
    let trouble = Watched<[AccessoryError]>([])
    try await following(ServiceMirror([], clock: clock), trouble: trouble) {
      var pauses: [Duration] = []
      for count in 1...8 {
        try await service.calls.wait { $0.count { $0 == "Subscribe" } >= count }
        try await clock.waitForPending(1)
        let next = try #require(clock.nextDeadline)
        pauses.append(next - clock.now)
        clock.advanceToNext()
      }
      #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30].map { .milliseconds(Int($0 * 1_000)) })
      // The same trouble is told once.
      #expect(trouble.value.count == 1)
    }
  }

  @Test func theMirrorHasReadingsAndLists() async throws {
    let events = [Self.event("present"), Self.event("ready"), Self.event("battery", Self.battery)]
    let service = try CannedService(at: place, Self.answers(events))
    defer { service.close() }
    let mirror = ServiceMirror([.lists])
    try await following(mirror) {
      for await change in await mirror.changes() {
        guard let accessory = change.accessories.first, accessory.record != nil, accessory.battery != nil else {
          continue
        }
        #expect(accessory.driver == "d" && accessory.battery?.percent == 61)
        break
      }
      // A list that is new enough isn't asked for again.
      _ = await mirror.refreshed()
      let count = service.calls.value.count { $0 == "List" }
      let snapshot = await mirror.refreshed()
      #expect(service.calls.value.count { $0 == "List" } == count)
      #expect(snapshot.freshness(of: snapshot.accessories[0]) == .fresh)
      service.close()
      for await change in await mirror.changes() where change.services.first?.isUp == false { break }
      let later = await mirror.snapshot
      #expect(later.freshness(of: later.accessories[0]) == .stale)
    }
  }

  /// Accessories that were connected are asked for their readings; what they don't have is no failure.
  @Test func connectedAccessoriesAreAskedForTheirReadings() async throws {
    var answers = Self.answers([Self.event("present"), Self.event("ready")])
    answers["Battery"] = [
      #"{"device":\#(Self.device),"age_ms":2000,"battery":{"level":"low","level_origin":"reported","charge":"full"}}"#
    ]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    let mirror = ServiceMirror([.readings])
    try await following(mirror) {
      for await change in await mirror.changes() where change.accessories.first?.isRead == true {
        let accessory = change.accessories[0]
        #expect(accessory.battery?.level == .low)
        #expect(accessory.battery(at: .now)!.age! >= .seconds(2))
        break
      }
    }
  }

  /// What the accessory didn't tell in time may never be told by an event, since it doesn't change.
  @Test func readingsThatCouldNotBeHadAreAskedForAgain() async throws {
    let clock = ManualClock()
    var answers = Self.answers([Self.event("present"), Self.event("ready")])
    answers["Battery"] = [#"!{"error":"accessorybridge.Bridge.TimedOut","parameters":{"message":"it is slow"}}"#]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    let mirror = ServiceMirror([.readings], clock: clock)
    func count() -> Int { service.calls.value.count { $0 == "Battery" } }
    try await following(mirror) {
      for (asked, pause) in [(1, 60), (2, 120), (3, 240), (4, 480), (5, 600), (6, 600)] {
        try await service.calls.wait { $0.count { $0 == "Battery" } == asked }
        try await eventually("the next try") { clock.nextDeadline == clock.now + .seconds(pause) }
        clock.advance(by: .seconds(pause - 1))
        #expect(count() == asked)
        clock.advance(by: .seconds(1))
      }
    }
  }

  /// A view that wants no readings asks nothing of accessories, but those that a user named what they are.
  @Test(arguments: ["udev", "named"]) func namedAccessoriesAreAskedWhatTheyAre(source: String) async throws {
    func named(_ text: String) -> String { text.replacing(#""source":"udev""#, with: #""source":"\#(source)""#) }
    var answers = Self.answers([Self.event("present"), Self.event("ready")]).mapValues { $0.map(named) }
    answers["Info"] = [
      named(#"{"accessory":{"device":\#(Self.device),"state":"attached","tries":0},"identity":{"model":"M"}}"#)
    ]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    let mirror = ServiceMirror([.lists, .identities])
    try await following(mirror) {
      for await change in await mirror.changes() {
        guard let accessory = change.accessories.first, accessory.record != nil else { continue }
        if source == "named", !accessory.isAsked { continue }
        #expect(accessory.identity?.model == (source == "named" ? "M" : nil))
        break
      }
    }
    #expect(service.calls.value.filter { $0 != "Subscribe" && $0 != "List" } == (source == "named" ? ["Info"] : []))
  }

  /// Who waits for the first readings has them, so that an accessory that was just connected isn't called stale.
  @Test func firstReadingsAreWaitedFor() async throws {
    var answers = Self.answers([Self.event("present"), Self.event("ready")])
    answers["Battery"] = [#"{"device":\#(Self.device)\#(Self.battery)}"#]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    // Its limit doesn't pass, however slow this machine is.
    let mirror = ServiceMirror([.readings], clock: ManualClock())
    try await following(mirror) {
      for await change in await mirror.changes() where change.accessories.first?.isConnected == true { break }
      await mirror.firstReadings()
      let snapshot = await mirror.snapshot
      #expect(snapshot.freshness(of: snapshot.accessories[0]) == .fresh)
      // There is nothing to wait for any more.
      await mirror.firstReadings()
    }
  }

  /// An accessory that doesn't answer holds nobody up for longer than a list may take.
  @Test func theWaitForFirstReadingsHasAnEnd() async throws {
    let clock = ManualClock()
    var answers = Self.answers([Self.event("present"), Self.event("ready")])
    answers["Status"] = ["!"]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    let mirror = ServiceMirror([.readings], clock: clock)
    try await following(mirror) {
      try await service.calls.wait { $0.contains("Status") }
      // The limit is set beside the call, and may be set after it.
      try await eventually("the limit") { clock.deadlines.contains(clock.now + .seconds(3)) }
      async let end: Void = mirror.firstReadings()
      clock.advance(by: .seconds(3))
      await end
      await mirror.firstReadings()
    }
  }

  /// There is no event when readings become stale: the service is asked when it has said that they will be.
  @Test func theServiceIsAskedWhenReadingsBecomeStale() async throws {
    let clock = ManualClock()
    let service = try CannedService(
      at: place, Self.answers([Self.event("present"), Self.event("ready")], #","fresh_ms":7000"#))
    defer { service.close() }
    let mirror = ServiceMirror([.freshness], clock: clock)
    try await following(mirror) {
      try await clock.waitForPending(1)
      #expect(clock.nextDeadline == clock.now + .seconds(7))
      let count = service.calls.value.count { $0 == "List" }
      clock.advance(by: .seconds(7))
      try await service.calls.wait { $0.count { $0 == "List" } > count }
    }
  }

  /// Who asks what is known gets no answer that is true no longer.
  @Test func aListThatSaysForHowLong() async throws {
    let clock = ManualClock()
    let events = [Self.event("present"), Self.event("ready")]
    let service = try CannedService(at: place, Self.answers(events, #","fresh_ms":1000"#))
    defer { service.close() }
    let mirror = ServiceMirror([], clock: clock)
    try await following(mirror) {
      for await change in await mirror.changes() where change.accessories.first?.isConnected == true { break }
      _ = await mirror.refreshed()
      let count = service.calls.value.count { $0 == "List" }
      clock.advance(by: .milliseconds(900))
      _ = await mirror.refreshed()
      #expect(service.calls.value.count { $0 == "List" } == count)
      clock.advance(by: .milliseconds(100))
      _ = await mirror.refreshed()
      #expect(service.calls.value.count { $0 == "List" } == count + 1)
    }
  }

  /// Readings that come again and again postpone that, and no list is asked for meanwhile.
  @Test func whatIsRenewedDoesNotBecomeStale() async throws {
    let clock = ManualClock()
    let events = [Self.event("present"), Self.event("ready")]
    let service = try CannedService(at: place, Self.answers(events, #","fresh_ms":7000"#))
    defer { service.close() }
    let mirror = ServiceMirror([.freshness], clock: clock)
    try await following(mirror) {
      try await clock.waitForPending(1)
      let count = service.calls.value.count { $0 == "List" }
      clock.advance(by: .seconds(5))
      let device = try #require(await mirror.snapshot.accessories.first?.device)
      let reading = BatteryReading(percent: 40)
      await mirror.take(.event(.battery(device, reading, .init(oldest: .zero, fresh: .seconds(7)))), of: place)
      clock.advance(by: .seconds(2))
      while clock.nextDeadline.map({ $0 <= clock.now }) ?? true { await Task.yield() }
      #expect(clock.nextDeadline == clock.now + .seconds(5))
      #expect(service.calls.value.count { $0 == "List" } == count)
      clock.advance(by: .seconds(5))
      try await service.calls.wait { $0.count { $0 == "List" } > count }
    }
  }

  /// A consumer that doesn't take changes keeps no more than the number of each accessory.
  @Test func aSlowConsumerGetsTheLatestState() async throws {
    let events =
      [Self.event("present"), Self.event("ready")]
      + (0..<2_000).map { _ in Self.event("battery", Self.battery) } + [
        Self.event("status", #","status":{"state":"busy"}"#)
      ]
    let service = try CannedService(at: place, Self.answers(events))
    defer { service.close() }
    let mirror = ServiceMirror([])
    try await following(mirror) {
      var changes = await mirror.changes().makeAsyncIterator()
      _ = await changes.next()
      // Another one that is fast.
      for await change in await mirror.changes() where change.accessories.first?.status?.state == .busy { break }
      let change = try #require(await changes.next())
      #expect(change.accessories.map(\.status?.state) == [.busy])
      #expect(change.accessories.map(\.battery?.percent) == [61])
    }
  }

  /// A view that takes each event gets all of them in their order, however slow it is: they are read no faster than that.
  @Test func aSlowViewGetsEachEventInOrder() async throws {
    let count = 600
    let events =
      [Self.event("present"), Self.event("ready")]
      + (0..<count).map { Self.event("battery", Self.battery.replacing("61", with: "\($0 % 100)")) }
    let service = try CannedService(at: place, Self.answers(events))
    defer { service.close() }
    let (seen, gate) = (Watched<[String]>([]), Watched(false))
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { [place] event, path, isNews in
      #expect(path == place && isNews)
      // The view is held up until the service has written all that fits into its buffers.
      if case .event(.ready) = event { _ = try? await gate.wait { $0 } }
      let text: String? =
        switch event {
        case .begun: "begun"
        case .event(.present): "present"
        case .event(.ready): "ready"
        case .event(.battery(_, let reading, _)): reading.percent.map { "\($0)" }
        case .event, .read, .ended: nil
        }
      if let text { seen.update { $0.append(text) } }
    }
    let task = Task { [place, hooks] in await ServiceMirror([]).run([.init(place)], hooks) }
    try await seen.wait { $0.contains("present") }
    gate.update { $0 = true }
    try await seen.wait { $0.count == count + 3 }
    #expect(seen.value == ["begun", "present", "ready"] + (0..<count).map { "\($0 % 100)" })
    task.cancel()
    await task.value
  }

  /// A service ends the subscription of one that reads too slowly. That is told, and then it reports everything again.
  @Test func lostEventsAreToldBeforeTheNextOnes() async throws {
    let device = #""device":\#(Self.device)"#
    let lost =
      #"{"error":"accessorybridge.Bridge.Busy","parameters":{\#(device),"message":"did not read"}}"#
    let clock = ManualClock()
    let service = try CannedService(
      at: place, Self.answers([Self.event("present"), Self.event("ready"), lost]))
    defer { service.close() }
    let seen = Watched<[String]>([])
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, _, _ in
      switch event {
      case .begun: seen.update { $0.append("begun") }
      case .event(.present): seen.update { $0.append("present") }
      case .ended(let error): seen.update { $0.append("\(error.kind)") }
      case .event, .read: break
      }
    }
    let task = Task { [place, hooks] in await ServiceMirror([], clock: clock).run([.init(place)], hooks) }
    try await clock.waitForPending(1)
    clock.advanceToNext()
    try await seen.wait { $0.count >= 6 }
    #expect(seen.value.prefix(6) == ["begun", "present", "busy", "begun", "present", "busy"])
    task.cancel()
    await task.value
  }

  /// A view that wants batteries alone asks for nothing else, and learns what was answered.
  @Test func aViewOfBatteriesAsksForNothingElse() async throws {
    var answers = Self.answers([Self.event("present"), Self.event("ready")])
    answers["Battery"] = [#"{"device":\#(Self.device)\#(Self.battery)}"#]
    let service = try CannedService(at: place, answers)
    defer { service.close() }
    let seen = Watched<[Int?]>([])
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, _, _ in
      guard case .read(_, let answers) = event else { return }
      seen.update { $0.append(answers.battery?.percent) }
    }
    let task = Task { [place, hooks] in await ServiceMirror([.batteries]).run([.init(place)], hooks) }
    try await seen.wait { !$0.isEmpty }
    #expect(seen.value == [61])
    #expect(service.calls.value.sorted() == ["Battery", "Subscribe"])
    task.cancel()
    await task.value
  }

  /// Of several sockets, the first that answers is followed.
  @Test func theFirstSocketThatAnswersIsFollowed() async throws {
    let service = try CannedService(at: place, Self.answers([Self.event("ready")]))
    defer { service.close() }
    let mirror = ServiceMirror([])
    let task = Task { [place, directory] in
      await mirror.run([.init("all", sockets: [directory.path + "/none", place])])
    }
    for await change in await mirror.changes() where change.services.first?.isUp == true {
      #expect(change.services.map(\.path) == ["all"])
      break
    }
    task.cancel()
    await task.value
  }
}
