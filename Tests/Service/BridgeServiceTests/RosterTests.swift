// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessorySimulator
import AccessoryTesting
import Logging
import TestSupport
import Testing

@testable import BridgeService
// Testing has a type of this name, too.
@testable import class BridgeService.Attachment

/// What the roster finds is what a look at every attachment finds.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RosterTests {
  private static let clock = ManualClock()

  private static func attachment(_ key: Int, _ device: Device, isRefused: Bool) -> Attachment {
    let now = clock.now
    let machine =
      isRefused
      ? AttachmentMachine(refused: AccessoryError(.busy, "full"), policies: AttachmentPolicies(), now: now)
      : AttachmentMachine(policies: AttachmentPolicies(), now: now)
    return Attachment(
      key: key, claim(device, key.isMultiple(of: 2) ? .af1 : nil), machine,
      taps: TapHub(clock: clock))
  }

  private static func claim(_ device: Device, _ profile: Profile?) -> AttachmentClaim {
    AttachmentClaim(
      device: device, profile: profile, driver: nil, isByHand: false, chosenProfile: nil, protocolStrings: [])
  }

  /// A device of few, so that places and identities meet: terminals, some of which have a USB node and a serial number, and
  /// units.
  private static func device(_ generator: inout SeededGenerator) -> Device {
    let place = Int.random(in: 0..<8, using: &generator)
    var device =
      Bool.random(using: &generator)
      ? Device(.terminal("/dev/ttyX\(place)"), source: .udev)
      : Device(.usb("/dev/bus/usb/001/00\(place)"), source: .udev)
    if Bool.random(using: &generator) {
      device.usb = USBIdentity(
        vendorID: 1, productID: 2, bus: 1, address: place, node: "/dev/bus/usb/001/00\(place)", port: "1-\(place)",
        devpath: "\(place)", function: USBClass(code: 0xFF, subclass: 0, protocol: 0))
    }
    if Bool.random(using: &generator) { device.serialNumber = "S\(Int.random(in: 0..<3, using: &generator))" }
    if Bool.random(using: &generator) { device.unit = Int.random(in: 1...2, using: &generator) }
    return device
  }

  @Test func theRosterFindsWhatALookAtAllFinds() {
    var generator = SeededGenerator(seed: 35)
    let roster = AttachmentRoster()
    var all: [Attachment] = []
    for step in 1...2_000 {
      let now = Self.clock.now
      switch (Int.random(in: 0..<8, using: &generator), all.randomElement(using: &generator)) {
      case (0, let old?),
        (1, let old?) where all.count > 20:
        roster.remove(old)
        all.removeAll { $0 === old }
      case (2, let old?): old.claim.device = Self.device(&generator)
      case (3, let old?): _ = old.machine.unplugged(.disconnected("x"), now: now)
      case (4, let old?): _ = old.machine.plugged(now: now)
      case (5, let old?): _ = old.machine.openingFailed(AccessoryError(.badData, "x"), now: now)
      case (6, let old?): old.claim = Self.claim(old.device, old.profile == nil ? .af1 : nil)
      default:
        let made = Self.attachment(step, Self.device(&generator), isRefused: Bool.random(using: &generator))
        roster.add(made)
        all.append(made)
      }
      Self.compare(roster, all, Self.device(&generator))
    }
  }

  private static func compare(_ roster: AttachmentRoster, _ all: [Attachment], _ device: Device) {
    func keys(_ attachments: [Attachment]) -> [Int] { attachments.map(\.key) }
    #expect(keys(roster.ordered) == keys(all))
    #expect(roster.holding(device)?.key == all.first { $0.machine.isPresent && $0.isSame(device) }?.key)
    #expect(roster.awaiting(device)?.key == all.first { !$0.machine.isPresent && $0.device.id == device.id }?.key)
    let line = device.line
    #expect(keys(roster.held(on: line)) == keys(all.filter { $0.machine.isPresent && $0.device.line == line }))
    #expect(
      keys(roster.units(onLineOf: device))
        == keys(all.filter { $0.device.unit != nil && $0.device.isOnLine(of: device) }))
    for state in Bridge.AttachmentState.allCases {
      #expect(roster.count(state) == all.count { $0.machine.state == state })
    }
    let holding = all.filter { $0.machine.state != .failed }
    #expect(roster.holdingCount == holding.count)
    #expect(roster.holdingCount("framed") == holding.count { $0.profile?.name == "framed" })
    let waiting = all.filter(\.machine.awaitsPlace)
    #expect(roster.firstRefused { _ in true }?.key == waiting.first?.key)
    #expect(roster.firstRefused { $0.profile == nil }?.key == waiting.first { $0.profile == nil }?.key)
    guard let one = all.last else { return }
    #expect(keys(roster.others(onLineOf: one)) == keys(all.filter { $0 !== one && $0.sharesLine(with: one) }))
    #expect(roster.uses(one.contact.taps) && roster.contains(one))
  }

  /// Thousands that are plugged in beyond the limit, and pulled out, leave nothing behind, and one that comes after them is attached.
  @Test func aStormOfDevicesLeavesOnlyTheLast() async throws {
    let source = StormSource()
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    (configuration.maximumAttached, configuration.retry.tries) = (4, .off)
    let service = BridgeService(
      configuration, profiles: ProfileStore([.af1]), drivers: .builtIn,
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      clock: ManualClock())
    await service.watch([source])
    for round in 1...6 {
      let devices = (0..<1_000).map { StormSource.device("R\(round)-\($0)") }
      for device in devices { source.send(.added(device)) }
      for device in devices { source.send(.removed(device)) }
    }
    source.send(.added(StormSource.device("LAST")))
    try await eventually("only the last one", within: .seconds(90)) { await service.isOpeningOnly("LAST") }
    await service.close()
  }
}

/// A source of devices that a test sends.
final class StormSource: DeviceSource {
  private let stream: AsyncStream<DeviceEvent>
  private let continuation: AsyncStream<DeviceEvent>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  static func device(_ id: String) -> Device {
    Device(.terminal("/nowhere/\(id)"), source: .udev, driver: "framed", serialNumber: id)
  }

  func send(_ event: DeviceEvent) { continuation.yield(event) }
  func devices() -> [Device] { [] }
  func events() -> AsyncStream<DeviceEvent> { stream }
}

extension BridgeService {
  /// Whether it has this accessory, and tries to open it.
  fileprivate func isOpeningOnly(_ id: String) -> Bool {
    attachments.ordered.map(\.device.id) == [id] && attachments.count(.opening) == 1
  }
}
