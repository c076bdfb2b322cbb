// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// Many devices of one adapter are connected one after another.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct ConnectionTurnsTests {
  /// Ten packs that are connected together, each by a conversation of its own: bluetoothd never has two to connect.
  @Test func tenPacksAreConnectedOneAfterAnother() async throws {
    func address(_ pack: Int) -> String { "C8:47:8C:00:00:0\(pack)" }
    func path(_ pack: Int) -> String {
      "/org/bluez/hci0/dev_" + String(address(pack).map { $0 == ":" ? "_" : $0 })
    }
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    let objects = WireValue.array(
      "{oa{sa{sv}}}",
      [object("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))])]
        + (0..<10).map { pack in
          object(
            path(pack), "org.bluez.Device1",
            [("Address", .text(address(pack))), ("Adapter", .path("/org/bluez/hci0")), ("RSSI", .int16(-60))])
        })
    let connecting = Locked((now: 0, most: 0))
    let bus = Locked<FakeBus?>(nil)
    let made = try FakeBus(clients: 10) { call in
      if call.member == "GetManagedObjects" { return .values([objects]) }
      guard call.member == "Connect" else { return nil }
      connecting.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      // Time for the others to come, on the thread of this client alone.
      for _ in 0..<500 { sched_yield() }
      connecting.withLock { $0.now -= 1 }
      let connected: [(String, WireValue)] = [("Connected", .boolean(true)), ("ServicesResolved", .boolean(true))]
      bus.withLock { $0 }?.changed(call.path, "org.bluez.Device1", connected)
      return nil
    }
    bus.withLock { $0 = made }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for pack in 0..<10 {
        group.addTask {
          let bluez = try await BlueZ.open(made.address)
          let place = try #require(BluetoothAddress(address(pack)))
          let found = try await bluez.connect(
            place, by: nil, label: "pack \(pack)", searching: .seconds(5), within: .seconds(30))
          #expect(found.isOurs)
          await bluez.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(connecting.withLock { $0.most } == 1)
    #expect(made.calls.count { $0.member == "Connect" } == 10)
    made.close()
    bus.withLock { $0 = nil }
  }
}
