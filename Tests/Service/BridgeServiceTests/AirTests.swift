// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryTesting
import Logging
import TestSupport
import Testing

@testable import BridgeService

/// Devices on the air: nothing is connected, and nothing searched for, without a profile's word.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AirTests {
  private static let address = BluetoothAddress("A5:C2:37:00:11:22")!

  private static func device(
    _ address: BluetoothAddress = address, name: String = "JBD-pack", isInReach: Bool = true
  ) -> Device {
    var device = Device(.ble(address), source: .bluetooth, name: name)
    var bluetooth = BluetoothIdentity(address, adapter: "hci0")
    bluetooth.signalStrength = isInReach ? -60 : nil
    (bluetooth.services, bluetooth.hasSerialPort) = ([BluetoothUUID("ff00")!], true)
    device.bluetooth = bluetooth
    return device
  }

  private static func profile(connects: Bool, _ rule: BluetoothRule = BluetoothRule(address: address)) -> Profile {
    var rules = DeviceRule()
    rules.bluetooth = rule
    var profile = Profile(name: "pack", rules: [rules], driver: "jbd")
    profile.allowsConnecting = connects
    return profile
  }

  private static func service(
    _ profiles: [Profile], _ source: AirSource, _ clock: ManualClock = ManualClock()
  ) async -> BridgeService {
    let service = BridgeService(
      ServiceConfiguration(information: ServiceHarness.information), profiles: ProfileStore(profiles),
      drivers: .builtIn,
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    await service.watch([source])
    return service
  }

  @Test(arguments: [true, false]) func onlyAProfileThatAllowsItConnects(isAllowed: Bool) async throws {
    let source = AirSource()
    let service = await Self.service([Self.profile(connects: isAllowed)], source)
    source.send(.added(Self.device(BluetoothAddress(rawValue: 1)!, name: "stranger")))
    source.send(.added(Self.device()))
    try await eventually("both have come") { await service.foundCount == 2 }
    #expect(await service.attachedIDs == (isAllowed ? ["ble:A5:C2:37:00:11:22"] : []))
    await service.close()
  }

  @Test func itSearchesWhileAProfileWaits() async throws {
    let source = AirSource()
    let service = await Self.service([Self.profile(connects: true)], source)
    try await eventually("a wish") { source.wishes.value.last?.count == 1 }
    #expect(source.wishes.value.last?.first?.fits(Self.device()) == true)
    source.send(.added(Self.device()))
    // The device itself is wished for, too, until it is given up.
    try await eventually("two wishes") { source.wishes.value.last?.count == 2 }
    await service.use(ProfileStore([]))
    try await eventually("no wish") { source.wishes.value.last?.isEmpty == true }
    #expect(await service.attachedIDs.isEmpty)
    await service.close()
  }

  @Test func withoutSuchAProfileNothingIsSearched() async throws {
    let source = AirSource()
    let service = await Self.service([Self.profile(connects: false)], source)
    await service.close()
    #expect(source.wishes.value.isEmpty)
  }

  /// Its pause is over as soon as it is heard again.
  @Test func aDeviceThatIsHeardAgainIsTriedAtOnce() async throws {
    let (source, clock) = (AirSource(), ManualClock())
    let service = await Self.service([Self.profile(connects: true)], source, clock)
    let (far, near) = (Self.device(isInReach: false), Self.device())
    source.send(.added(far))
    // There is no bus here, or no such device. Behind the time in which a new device may still change, it is waited for.
    try await eventually("it was tried") { await service.hasProblem }
    clock.advance(by: .seconds(3))
    try await eventually("it is waited for") { await service.states == [.waiting] }
    let before = await service.generation
    source.send(.changed(near, from: far))
    try await eventually("it is tried again") { await service.generation > before }
    await service.close()
  }

  /// A device that could be heard when it was opened, and left: that it is heard again is no news.
  @Test func aDeviceThatLeavesKeepsItsPause() async throws {
    let (source, clock) = (AirSource(), ManualClock())
    let service = await Self.service([Self.profile(connects: true)], source, clock)
    let (far, near) = (Self.device(isInReach: false), Self.device())
    // Without a bus it ends like a device that is lost while it is connected.
    source.send(.added(near))
    try await eventually("it is waited for") { await service.states == [.waiting] }
    let before = await service.generation
    source.send(.changed(far, from: near))
    source.send(.changed(near, from: far))
    source.send(.added(Self.device(BluetoothAddress(rawValue: 1)!, name: "stranger")))
    try await eventually("the events have come") { await service.foundCount == 2 }
    #expect(await service.generation == before)
    clock.advance(by: .seconds(60))
    try await eventually("its pause is over") { await service.generation > before }
    await service.close()
  }

  /// A device that changes its address comes back as another one. What a user has named, and an address that stays, is awaited.
  @Test(arguments: [(true, false, 0), (false, false, 1), (true, true, 1)])
  func anAddressThatPassesIsNotAwaited(passes: Bool, isNamed: Bool, count: Int) async throws {
    let (source, clock) = (AirSource(), ManualClock())
    let rule = isNamed ? BluetoothRule(address: Self.address) : BluetoothRule(name: TextPattern("JBD-*"))
    let service = await Self.service([Self.profile(connects: true, rule)], source, clock)
    var device = Self.device()
    device.bluetooth?.hasPassingAddress = passes
    source.send(.added(device))
    try await eventually("it was tried") { await service.hasProblem }
    clock.advance(by: .seconds(3))
    try await eventually("it is waited for") { await service.states == [.waiting] }
    source.send(.removed(device))
    var other = Self.device(BluetoothAddress(rawValue: 7)!)
    other.bluetooth?.hasPassingAddress = passes
    source.send(.added(other))
    try await eventually("both events have come") { await service.foundIDs == [other.id] }
    #expect(await service.attachedIDs.filter { $0 == device.id }.count == count)
    await service.close()
  }

  /// Two strangers with the name by which a profile goes: neither is connected, and the error has both addresses. One alone is.
  @Test(arguments: [true, false]) func ofTwoDevicesWithOneNameNeitherIsConnected(areTwo: Bool) async throws {
    let (source, clock) = (AirSource(), ManualClock())
    let rule = BluetoothRule(name: TextPattern("JBD-*"))
    let service = await Self.service([Self.profile(connects: true, rule)], source, clock)
    var devices = [Self.device(), Self.device(BluetoothAddress(rawValue: 7)!)]
    for place in devices.indices { devices[place].bluetooth?.toldName = "JBD-SP04" }
    source.send(.added(devices[0]))
    // Others are listened for.
    try await eventually("it waits") { clock.nextDeadline != nil }
    #expect(await service.states == [.opening])
    if areTwo { source.send(.added(devices[1])) }
    try await eventually("all have come") { await service.foundCount == (areTwo ? 2 : 1) }
    try await eventually("all wait") { await service.states.allSatisfy { $0 == .opening } }
    clock.advance(by: .seconds(10))
    try await eventually("it was tried") { await service.hasProblem }
    let problem = await service.problems.first ?? ""
    #expect(problem.contains("ble:00:00:00:00:00:07") == areTwo && problem.contains("address:") == areTwo, "\(problem)")
    await service.close()
  }

  /// The adapter says how a device is reached, and isn't a part of what it is.
  @Test func anAdapterIsKept() async throws {
    let (source, clock) = (AirSource(), ManualClock())
    let service = await Self.service([], source, clock)
    let place = try #require(DeviceAddress("ble:hci7/A5:C2:37:00:11:22"))
    let attaching = Task { try await service.hold(Device(place, source: .named)) }
    try await eventually("it is attached") { await service.places == [place.description] }
    source.send(.added(Self.device()))
    try await eventually("it has come") { await service.foundCount == 1 }
    #expect(await service.places == [place.description])
    #expect(await service.attachedIDs == ["ble:A5:C2:37:00:11:22"])
    // There is no bus here, and nobody moves the clock on: it would be tried for ever.
    attaching.cancel()
    _ = await attaching.result
    await service.close()
  }
}

/// A source whose devices a test sends, and that notes what it is to search for.
private final class AirSource: DeviceSource {
  let wishes = Watched<[[DeviceWish]]>([])
  private let stream: AsyncStream<DeviceEvent>
  private let continuation: AsyncStream<DeviceEvent>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func send(_ event: DeviceEvent) { continuation.yield(event) }
  func devices() -> [Device] { [] }
  func events() -> AsyncStream<DeviceEvent> { stream }
  func wait(for wishes: [DeviceWish]) async { self.wishes.update { $0.append(wishes) } }
}

extension BridgeService {
  fileprivate var foundCount: Int { found.count }
  fileprivate var foundIDs: [String] { found.all.map(\.id) }
  fileprivate var places: [String] { attachments.ordered.map(\.target.place) }
  fileprivate var attachedIDs: [String] { attachments.ordered.map(\.device.id) }
  fileprivate var states: [Bridge.AttachmentState] { attachments.ordered.map(\.machine.state) }
  fileprivate var hasProblem: Bool { attachments.ordered.first?.machine.problem != nil }
  fileprivate var problems: [String] { attachments.ordered.compactMap(\.machine.problem?.message) }
  fileprivate var generation: Int { attachments.ordered.first?.generation ?? 0 }
}
