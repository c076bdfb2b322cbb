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
  fileprivate var attachedIDs: [String] { attachments.ordered.map(\.device.id) }
  fileprivate var states: [Bridge.AttachmentState] { attachments.ordered.map(\.machine.state) }
  fileprivate var hasProblem: Bool { attachments.ordered.first?.machine.problem != nil }
  fileprivate var generation: Int { attachments.ordered.first?.generation ?? 0 }
}
