// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// An accessory that is no stream of bytes.
private struct Shelf: Accessory {
  let channel: TestChannel
  var label: String { channel.label }

  static let driver = Driver(name: "shelf", rawBytes: .harmless, channel: TestChannel.self) { channel, _, _ in
    Shelf(channel: channel)
  }

  func battery() async throws(AccessoryError) -> BatteryReading {
    _ = try channel.read()
    return BatteryReading(percent: 57)
  }
  func news() -> EventStream<AccessoryNews> { channel.events().converted { nil } }
  func close() async { await channel.close() }
}

/// Accessories of a service that are no streams of bytes.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct OtherChannelTests {
  /// It is asked as any other. Who wants its bytes is refused, and the service doesn't give the accessory up for that.
  @Test func itIsAskedAndNotLent() async throws {
    let terminal = try openPseudoTerminal(raw: true)
    let drivers = DriverLibrary([Shelf.driver])
    let text = Array("name: shelf\nmatch: {driver: shelf}\ndriver: shelf\n".utf8)
    let profile = try ProfileReader.read(text, file: "shelf.yaml", drivers: drivers)
    try await ServiceHarness.with(profiles: [profile], drivers: drivers) { harness in
      let file = try harness.announce(terminal.path, serial: "S1", driver: "shelf")
      try await harness.said("S1 is attached at")
      let client = try await harness.client()
      #expect(try await client.call(Bridge.GetBattery(device: "S1")).battery.percent == 57)
      let channel = try #require(TestChannel.opened(terminal.path))
      for share in [false, true] {
        do {
          if share {
            _ = try await client.upgrade(Bridge.Share(device: "S1", access: .write))
          } else {
            _ = try await client.upgrade(Bridge.Open(device: "S1"))
          }
          Issue.record("it was lent")
        } catch {
          #expect("\(error)".contains("is looked at: no bytes are written to it"), "\(error)")
        }
      }
      #expect(channel.closings == 0 && TestChannel.opened(terminal.path) === channel)
      #expect(try await harness.state("S1") == .attached)
      // Its removal ends the channel, and the accessory is gone.
      file.remove()
      try await harness.said("S1 is no longer attached")
      #expect(throws: AccessoryError.self) { try channel.read() }
    }
    #expect(terminal.received().isEmpty)
  }

  /// Its protocol isn't known: it is held, and nothing is asked.
  @Test func withoutADriverItIsHeldAndItsLossIsNoticed() async throws {
    let profile = Profile(name: "unknown", rules: [])
    let opener = DeviceOpener(
      Device(.hidraw("/dev/hidraw-of-a-service"), source: .named), profile: profile,
      drivers: DriverLibrary([Shelf.driver]))
    let open = try await OpenAccessory.open(opener)
    #expect(open.accessory == nil && open.opened.session == nil)
    let lost = Watched<[AccessoryError.Kind]>([])
    let task = open.follow(on: IOThread.shared) { _ in
    } ended: { error in
      lost.update { $0.append(error.kind) }
    }
    open.opened.channel.deviceWasRemoved()
    await task.value
    #expect(lost.value == [.disconnected])
  }
}
