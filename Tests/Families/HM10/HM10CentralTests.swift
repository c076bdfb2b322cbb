// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import FamilyHM10
import TestSupport
import Testing

@testable import AccessoryDrivers

/// A module whose every answer the test decides.
private final class FakeRadio: HM10Radio {
  struct State: Sendable {
    var scans = 0
    var attempts = 0
    var disconnects = 0
    var sent: [UInt8] = []
    /// What comes of the attempts to come; a connection when there is nothing.
    var failures: [AccessoryError] = []
    var prepareFailure: AccessoryError?
    var subscribers: [AsyncThrowingStream<HM10Event, any Error>.Continuation] = []
  }

  let label = "radio"
  let state = Watched(State())
  let neighbours: [HM10Neighbour]

  init(_ neighbours: [HM10Neighbour] = []) { self.neighbours = neighbours }

  func isCentral() async throws(AccessoryError) -> Bool { true }

  func prepare() async throws(AccessoryError) { if let failure = state.value.prepareFailure { throw failure } }

  func scan() async throws(AccessoryError) -> HM10Scan {
    let count = state.update { state in
      state.scans += 1
      return state.scans
    }
    var scan = HM10Scan()
    scan.take(.discovery(.began(.devices)))
    for neighbour in neighbours {
      tell(.found(neighbour))
      scan.take(.discovery(.found(neighbour.address, type: nil)))
      // A signal changes from scan to scan.
      if let strength = neighbour.signalStrength { scan.take(.signalStrength(strength - count + 1)) }
      if let found = scan.neighbours.last { tell(.found(found)) }
    }
    return scan
  }

  func connect(to address: BluetoothAddress, isDual: Bool) async throws(AccessoryError) {
    let failure = state.update { state in
      state.attempts += 1
      return state.failures.isEmpty ? nil : state.failures.removeFirst()
    }
    if let failure { throw failure }
    tell(.connected(address))
  }

  func disconnect() async throws(AccessoryError) { state.update { $0.disconnects += 1 } }
  func send(_ bytes: [UInt8]) async throws(AccessoryError) { state.update { $0.sent += bytes } }

  func events() -> EventStream<HM10Event> {
    let (stream, continuation) = AsyncThrowingStream<HM10Event, any Error>.makeStream()
    state.update { $0.subscribers.append(continuation) }
    return EventStream(stream)
  }

  func tell(_ event: HM10Event) { for subscriber in state.value.subscribers { subscriber.yield(event) } }
  func unplug() {
    for subscriber in state.value.subscribers { subscriber.finish(throwing: AccessoryError.disconnected("radio")) }
  }
}

private final class Recorder: HM10CentralDelegate {
  let calls = Watched<[String]>([])

  func centralSearchEnded(_ central: HM10Central) { calls.update { $0.append("search ended") } }
  func central(_ central: HM10Central, changedTo state: HM10CentralState) {
    calls.update { $0.append("state \(state.rawValue)") }
  }
  func central(_ central: HM10Central, connectedTo address: BluetoothAddress) {
    calls.update { $0.append("connected") }
  }
  func central(_ central: HM10Central, lost address: BluetoothAddress) { calls.update { $0.append("lost") } }
}

/// What a central does by itself, with a clock that the test moves and modules that are the test's.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct HM10CentralTests {
  private static let one = BluetoothAddress(rawValue: 1)!
  private static let two = BluetoothAddress(rawValue: 2)!
  private static let three = BluetoothAddress(rawValue: 3)!
  private static let refusal = AccessoryError(.disconnected, "in vain")
  private static let around = [
    HM10Neighbour(address: one, name: "one", signalStrength: -70),
    HM10Neighbour(address: two, signalStrength: -40), HM10Neighbour(address: three, name: "three"),
  ]

  private let clock = ManualClock()

  private func central(
    _ radios: [FakeRadio], known: [HM10Neighbour] = around, _ change: (inout HM10CentralPolicy) -> Void = { _ in }
  ) async throws -> HM10Central {
    var policy = HM10CentralPolicy()
    change(&policy)
    let central = HM10Central(radios, policy: policy, known: known, clock: clock)
    try await central.start(searching: nil)
    return central
  }

  private func next(
    _ iterator: inout AsyncStream<HM10CentralEvent>.Iterator, where isWanted: (HM10CentralEvent) -> Bool
  ) async -> HM10CentralEvent? {
    while let event = await iterator.next(isolation: #isolation) { if isWanted(event) { return event } }
    return nil
  }

  // MARK: - Rules

  @Test func wrongConnectionsAreErrorsOfTheirOwn() async throws {
    let central = try await central([FakeRadio(Self.around)])
    let stranger = BluetoothAddress(rawValue: 99)!
    await #expect(throws: HM10CentralError.notFound(stranger)) { try await central.connect(to: stranger) }
    try await central.connect(to: Self.one)
    await #expect(throws: HM10CentralError.alreadyConnected(Self.one)) { try await central.connect(to: Self.one) }
    await #expect(throws: HM10CentralError.limitReached(1)) { try await central.connect(to: Self.two) }
    #expect(await central.connected == [Self.one])
    let kinds = [
      HM10CentralError.notFound(stranger), .alreadyConnected(Self.one), .limitReached(1),
    ].map(\.accessoryError.kind)
    #expect(Set(kinds).count == 3)
  }

  @Test func eachModuleHasOneConnection() async throws {
    let radios = [FakeRadio(), FakeRadio()]
    let central = try await central(radios) { $0.mostConnections = 5 }
    try await central.connect(to: Self.one)
    try await central.connect(to: Self.two)
    await #expect(throws: HM10CentralError.limitReached(2)) { try await central.connect(to: Self.three) }
    try await central.send([1], to: Self.one)
    try await central.send([2], to: Self.two)
    #expect(radios.map { $0.state.value.sent } == [[1], [2]])
    try await central.disconnect(from: Self.one)
    await #expect(throws: HM10CentralError.notConnected(Self.one)) { try await central.send([1], to: Self.one) }
    try await central.connect(to: Self.three)
    #expect(await central.connected == [Self.two, Self.three])
  }

  // MARK: - Trying again

  /// Three more tries, a second apart, and not a fourth.
  @Test func aFailedConnectionIsTriedThreeMoreTimes() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    var events = await central.events().makeAsyncIterator()
    radio.state.update { $0.failures = Array(repeating: Self.refusal, count: 9) }
    let connecting = Task { () -> HM10CentralError? in
      do throws(HM10CentralError) { try await central.connect(to: Self.one) } catch { return error }
      return nil
    }
    for left in [3, 2, 1, 0] {
      #expect(await events.next() == .attemptFailed(Self.one, Self.refusal, triesLeft: left))
      guard left > 0 else { break }
      try await clock.waitForPending()
      let before = radio.state.value.attempts
      clock.advance(by: .milliseconds(999))
      #expect(radio.state.value.attempts == before)
      clock.advance(by: .milliseconds(1))
    }
    #expect(await connecting.value == .failed(Self.refusal))
    #expect(radio.state.value.attempts == 4)
    // It is forgotten: there may be another.
    radio.state.update { $0.failures = [] }
    try await central.connect(to: Self.two)
  }

  @Test func aConnectionIsMadeAtTheSecondTry() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    radio.state.update { $0.failures = [Self.refusal] }
    let connecting = Task { try await central.connect(to: Self.one) }
    try await clock.waitForPending()
    clock.advance(by: .seconds(1))
    try await connecting.value
    #expect(radio.state.value.attempts == 2)
    #expect(await central.connected == [Self.one])
  }

  @Test func aConnectionIsNotRetriedWhereRetriesAreOff() async throws {
    let radio = FakeRadio()
    let central = try await central([radio]) { $0.retryConnect = .off }
    radio.state.update { $0.failures = [Self.refusal] }
    await #expect(throws: HM10CentralError.failed(Self.refusal)) { try await central.connect(to: Self.one) }
    #expect(radio.state.value.attempts == 1)
  }

  // MARK: - Losing

  @Test func aLostConnectionIsMadeAgain() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    try await central.connect(to: Self.one)
    var events = await central.events().makeAsyncIterator()
    radio.state.update { $0.failures = [Self.refusal] }
    radio.tell(.lost)
    #expect(await events.next() == .lost(Self.one))
    #expect(await events.next() == .state(.reconnecting))
    #expect(await central.state == .reconnecting)
    try await clock.waitForPending()
    clock.advance(by: .seconds(1))
    #expect(await events.next() == .attemptFailed(Self.one, Self.refusal, triesLeft: 2))
    try await clock.waitForPending()
    clock.advance(by: .seconds(1))
    #expect(await events.next() == .connected(Self.one, isAgain: true))
    #expect(await events.next() == .state(.poweredOn))
    radio.tell(.data([7]))
    #expect(await events.next() == .received([7], from: Self.one))
  }

  /// Three tries and no more; the next loss has three of its own.
  @Test func aLostConnectionIsGivenUpAfterThreeTries() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    try await central.connect(to: Self.one)
    var events = await central.events().makeAsyncIterator()
    radio.state.update { $0.failures = Array(repeating: Self.refusal, count: 9) }
    radio.tell(.lost)
    for left in [2, 1, 0] {
      try await clock.waitForPending()
      clock.advance(by: .seconds(1))
      let failed = await next(&events) { if case .attemptFailed = $0 { true } else { false } }
      #expect(failed == .attemptFailed(Self.one, Self.refusal, triesLeft: left))
    }
    #expect(await events.next() == .gaveUp(Self.one))
    #expect(radio.state.value.attempts == 4 && clock.pendingCount == 0)
    #expect(await central.connected.isEmpty)
    #expect(await central.state == .poweredOn)
  }

  @Test func withoutReconnectingALostConnectionIsGivenUp() async throws {
    let radio = FakeRadio()
    let central = try await central([radio]) { $0.reconnect = .off }
    try await central.connect(to: Self.one)
    var events = await central.events().makeAsyncIterator()
    radio.tell(.lost)
    #expect(await events.next() == .lost(Self.one))
    #expect(await events.next() == .gaveUp(Self.one))
    #expect(radio.state.value.attempts == 1 && clock.pendingCount == 0)
  }

  /// Who ends it while it is taken up again has it ended.
  @Test func disconnectingEndsReconnecting() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    try await central.connect(to: Self.one)
    var events = await central.events().makeAsyncIterator()
    radio.tell(.lost)
    _ = await next(&events) { $0 == .state(.reconnecting) }
    try await central.disconnect(from: Self.one)
    #expect(await events.next() == .disconnected(Self.one))
    clock.advance(by: .seconds(10))
    #expect(radio.state.value.attempts == 1)
    try await central.connect(to: Self.two)
    #expect(await central.connected == [Self.two])
  }

  @Test func anUnpluggedModuleIsPoweredOff() async throws {
    let radio = FakeRadio()
    let central = try await central([radio])
    try await central.connect(to: Self.one)
    var events = await central.events().makeAsyncIterator()
    radio.unplug()
    #expect(await events.next() == .lost(Self.one))
    #expect(await events.next() == .gaveUp(Self.one))
    #expect(await events.next() == .state(.poweredOff))
    await #expect(throws: HM10CentralError.self) { try await central.connect(to: Self.two) }
  }

  // MARK: - Searching

  @Test func aSearchScansUntilItsTimeIsOver() async throws {
    let radio = FakeRadio(Self.around)
    let central = try await central([radio], known: [HM10Neighbour(address: BluetoothAddress(rawValue: 9)!)])
    let recorder = Recorder()
    await central.setDelegate(recorder)
    let search = Task { try await central.search(for: .seconds(5)) }
    // Again and again, until the time is over.
    for _ in 0..<3 {
      let scans = radio.state.value.scans
      try await clock.waitForPending(2)
      clock.advance(by: .milliseconds(100))
      try await radio.state.wait { $0.scans > scans }
    }
    clock.advance(by: .seconds(5))
    try await search.value
    #expect(recorder.calls.value == ["search ended"])
    #expect(await central.deviceCount == 3)
    #expect(await central.strongestFirst.map(\.address).first == Self.two)
    #expect(await central.deviceList.map(\.address) == [Self.one, Self.two, Self.three])
    #expect(await central.name(of: Self.one) == "one")
    #expect(await central.name(of: Self.two) == nil)
    // Refreshed by every scan.
    #expect(try #require(await central.signalStrength(of: Self.one)) <= -70)
    #expect(await central.signalStrength(of: BluetoothAddress(rawValue: 9)!) == nil)
    #expect(await central.devices.count == 3)
  }

  @Test func knownDevicesAreLimited() async throws {
    let many = (1...20).compactMap { BluetoothAddress(rawValue: $0).map { HM10Neighbour(address: $0) } }
    let central = try await central([FakeRadio()], known: many) { $0.mostDevices = 5 }
    #expect(await central.deviceCount == 5)
  }

  @Test(arguments: [
    (AccessoryError.Kind.refused, HM10CentralState.unsupported), (.disconnected, .poweredOff),
    (.permissionDenied, .unauthorized), (.timedOut, .unknown),
  ])
  func aCentralThatCannotStartHasAState(kind: AccessoryError.Kind, state: HM10CentralState) async throws {
    let radio = FakeRadio()
    radio.state.update { $0.prepareFailure = AccessoryError(kind, "no") }
    let central = HM10Central([radio], clock: clock)
    #expect(await central.state == .unknown)
    let error = await #expect(throws: AccessoryError.self) { try await central.start() }
    #expect(error?.kind == kind)
    #expect(await central.state == state)
  }

  @Test func theDelegateIsToldOfEveryChange() async throws {
    let radio = FakeRadio()
    let central = HM10Central([radio], known: Self.around, clock: clock)
    let recorder = Recorder()
    await central.setDelegate(recorder)
    try await central.start(searching: nil)
    try await central.connect(to: Self.one)
    radio.tell(.lost)
    try await recorder.calls.wait { $0.contains("state reconnecting") }
    #expect(recorder.calls.value == ["state resetting", "state powered_on", "connected", "lost", "state reconnecting"])
  }
}
