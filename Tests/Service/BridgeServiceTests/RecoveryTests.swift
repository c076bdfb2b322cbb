// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessorySimulator
import AccessoryTesting
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// What the service does with an accessory on USB that is there and doesn't answer.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RecoveryTests {
  private static let node = "/dev/bus/usb/009/004"

  /// A device on USB with this terminal.
  private static func device(_ terminal: String) -> Device {
    Device(
      .terminal(terminal), source: .udev, driver: "framed", serialNumber: "U1",
      usb: USBIdentity(vendorID: 0x1209, productID: 1, bus: 9, address: 4, node: node, port: "9-1"))
  }

  private static let profile: Profile = {
    var (profile, recovery) = (Profile.af1, RecoveryPolicy())
    profile.polls.all = .every(.seconds(30))
    (recovery.polls, recovery.resetsBus) = (2, true)
    profile.policies.recovery = recovery
    return profile
  }()

  /// It is closed and opened again, then reset on its bus each time, until it answers. A reset that fails doesn't end that.
  @Test func aSilentAccessoryIsResetOnItsBusUntilItAnswers() async throws {
    let (isAwake, log) = (Watched(true), Watched<[String]>([]))
    // The nodes that were reset, and whether the terminal was open then.
    let resets = Watched<[(node: String, wasOpen: Bool)]>([])
    let problems = Watched<[String]>([])
    let accessory = ScriptedAccessory { request in
      guard isAwake.value || request.command == .hello else { return .silence }
      return switch request.command {
      case .identify: .reply(Array("m\0n\0o\0U1\0f\0h\0".utf8))
      case .status: .reply([0, 0, 0, 0xFF])
      case .battery: .reply([2, 57])
      default: .silence
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    let isOpen = Watched<@Sendable () async -> Bool>({ false })
    var hooks = ServiceHooks(onEvent: { event in
      if event.event == .requestFailed, let problem = event.problem { problems.update { $0.append(problem.message) } }
    })
    hooks.resetUSB = { node throws(AccessoryError) in
      let wasOpen = await isOpen.value()
      resets.update { $0.append((node, wasOpen)) }
      // The first one fails, and the third one brings it back.
      if resets.value.count == 1 { throw AccessoryError(.ioFailure, "resetting it fails") }
      if resets.value.count == 3 { isAwake.update { $0 = true } }
    }
    let clock = ManualClock()
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    configuration.reconnect = .init(interval: .milliseconds(20))
    let service = BridgeService(
      configuration, profiles: ProfileStore([Self.profile]), drivers: .builtIn, log: ServiceHarness.logger(log),
      hooks: hooks, clock: clock)
    isOpen.update { $0 = { await service.hasOpen("U1") } }
    let source = StormSource()
    await service.watch([source])
    source.send(.added(Self.device(terminal.path)))
    try await eventually("the first readings") { await service.hasReadings("U1") }

    /// Lets time pass until the service has said this.
    func pass(until text: String) async throws {
      try await clock.pass(text, step: .seconds(60)) { log.value.contains { $0.contains(text) } }
    }
    isAwake.update { $0 = false }
    try await pass(until: "it is closed and opened again (1 since it answered); try 1 in 5 s")
    #expect(resets.value.isEmpty)
    try await pass(until: "it is reset on its bus and opened again (2 since it answered); try 1 in 10 s")
    try await pass(until: "U1 can't be reset on its bus: resetting it fails")
    try await pass(until: "it is reset on its bus and opened again (3 since it answered); try 1 in 20 s")
    try await pass(until: "it is reset on its bus and opened again (4 since it answered); try 1 in 40 s")
    try await pass(until: "U1 answers again, after 4 recoveries")
    #expect(resets.value.count == 3)
    #expect(resets.value.allSatisfy { $0.node == Self.node && !$0.wasOpen })
    #expect(problems.value.count { $0.contains("it is closed and opened again (1 since it answered)") } == 1)
    #expect(problems.value.count { $0.contains("it is reset on its bus and opened again") } == 3)
    await service.close()
    await terminal.transport.close()
  }

  /// A profile that allows no reset: it is only opened again.
  @Test func withoutPermissionNothingIsReset() async throws {
    var profile = Self.profile
    profile.policies.recovery?.resetsBus = false
    let (log, resets) = (Watched<[String]>([]), Watched(0))
    let accessory = ScriptedAccessory { _ in .silence }
    let terminal = try await accessory.onPseudoTerminal()
    var hooks = ServiceHooks()
    hooks.resetUSB = { _ throws(AccessoryError) in resets.update { $0 += 1 } }
    let clock = ManualClock()
    let service = BridgeService(
      ServiceConfiguration(information: ServiceHarness.information), profiles: ProfileStore([profile]),
      drivers: .builtIn, log: ServiceHarness.logger(log), hooks: hooks, clock: clock)
    let source = StormSource()
    await service.watch([source])
    source.send(.added(Self.device(terminal.path)))
    try await eventually("three recoveries") {
      if log.value.contains(where: { $0.contains("it is closed and opened again (3 since it answered)") }) {
        return true
      }
      clock.advanceToNext()
      return false
    }
    #expect(resets.value == 0)
    await service.close()
    await terminal.transport.close()
  }
}

extension BridgeService {
  /// Whether the accessory's device is open.
  fileprivate func hasOpen(_ id: String) -> Bool {
    attachments.ordered.contains { $0.device.id == id && $0.open != nil }
  }
}
