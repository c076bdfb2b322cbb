// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import FamilyEV3
import FamilyEV3Simulator
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// A pretended brick as the HID device that it is, whose driver has to let go.
  @Suite struct BrickTests {
    private func plugIn(
      _ change: (inout EV3Simulator.Configuration) -> Void = { _ in }
    ) async throws -> (simulator: EV3Simulator, path: String, device: Device) {
      try #require(Kernel.isReady, "no vhci_hcd: these tests are for the guest of 'make lab'")
      var configuration = EV3Simulator.Configuration(seed: 1)
      configuration.connection = .usb()
      change(&configuration)
      let simulator = EV3Simulator(configuration, io: Kernel.devices)
      let path = try await simulator.plugIn()
      let node = try await Kernel.node(path, .reports, serial: configuration.device.serialNumber)
      let device = try #require(try await UdevSource().devices().first { $0.address.description == node })
      return (simulator, path, device)
    }

    private func open(_ device: Device) async throws -> EV3Brick {
      let profile = try #require(ProfileStore.builtIn.profile(for: device))
      #expect(profile == .ev3, "by its numbers alone")
      return try await EV3Brick.open(try await DeviceOpener(device, profile: profile).session())
    }

    /// What would wait for ever, or need something special.
    private static let special = [
      "button-wait": ["button-press", "button=up", "+", "button-wait"], "folders": ["folders", "path=.."],
      "program-start": ["program-start", "path=../apps/x/x.rbf"],
    ]

    /// Something that an argument may be, unless it can be left out.
    private static func word(_ argument: CommandDescription.Argument) -> String? {
      guard argument.defaultValue == nil else { return nil }
      let value =
        switch argument.kind {
        case .whole(let range): "\(max(range.lowerBound, 1))"
        case .choice(let words): words[0]
        case .choices(let words): words.prefix(2).joined(separator: ",")
        case .text: "x"
        case .bytes: "00"
        case .flag: "no"
        }
      return "\(argument.name)=\(value)"
    }

    @Test func everyMessageIsAReport() async throws {
      let (simulator, path, device) = try await plugIn { $0.device.percent = 57 }
      #expect(Kernel.driver(path) == "usbhid")
      let brick = try await open(device)
      #expect(Kernel.driver(path) == "usbfs")
      #expect(try await brick.battery() == BatteryReading(percent: 57, millivolts: 6_941, milliamperes: -180))
      #expect(try await brick.identify().firmwareRevision == "V1.09H")
      await simulator.put([1], at: "../apps/x/x.rbf")
      for command in EV3Brick.commands {
        let words = Self.special[command.name] ?? ([command.name] + command.arguments.compactMap(Self.word))
        let replies = try await brick.perform(try CommandCall.read(words, of: EV3Brick.commands), isAnswered: true)
        #expect(replies.last?.values.count == command.results.count, "\(command.name)")
      }
      // The longest there are, both ways, and many without a reply.
      var batch = EV3Batch()
      for _ in 0..<1_017 { try batch.add(.nothing) }
      _ = try await brick.send(batch)
      for _ in 0..<200 { try await brick.tell(.nothing) }
      _ = try await brick.ask(.nothing)
      let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      try await brick.send(bytes, to: "../prjs/x/y")
      let back = try await brick.file("../prjs/x/y")
      #expect(back == bytes)
      await brick.close()
      #expect(Kernel.driver(path) == "usbhid")
      await simulator.stop()
      try await Kernel.waitForNo(device.address.description)
    }

    @Test func anInterruptedDownloadOverUSBGoesOn() async throws {
      let (simulator, _, device) = try await plugIn { $0.faults.unplug = .request(50) }
      let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
      var download = EV3Download(bytes, to: "../prjs/x/y")
      let brick = try await open(device)
      var error: AccessoryError?
      do throws(AccessoryError) { try await download.run(on: brick) } catch let failure { error = failure }
      #expect(error?.kind == .disconnected)
      await brick.close()
      try await Kernel.waitForNo(device.address.description)
      let path = try await simulator.plugIn()
      let node = try await Kernel.node(path, .reports, serial: "001653000001")
      let again = try await open(
        try #require(try await UdevSource().devices().first { $0.address.description == node }))
      try await download.run(on: again)
      #expect(download.resumptions == 1)
      #expect(await simulator.device.files.contents("../prjs/x/y") == bytes)
      await again.close()
      await simulator.stop()
      try await Kernel.waitForNo(node)
    }
  }
}
