// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
@preconcurrency import BluetoothClientOfSwift5
import BluetoothClientOfSwift6
import BluetoothStory
import CoreBluetooth
import TestSupport
import Testing

/// Clients as they are written for iOS, with devices that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct ClientTests {
  /// The user's side of the client in Swift 5 mode. `@unchecked Sendable`: it has nothing that changes but what is watched.
  private final class App: NSObject, ModuleLinkDelegate, @unchecked Sendable {
    let lines = Watched<[String]>([])
    private func write(_ line: String) { lines.update { $0.append(line) } }
    func moduleLinkDidChangeState(_ state: CBManagerState) { write("state \(state.rawValue)") }
    func moduleLinkDidDiscover(_ peripheral: CBPeripheral, RSSI: NSNumber?) {
      write("found \(peripheral.name ?? "nil") \(RSSI ?? 0)")
      moduleLink.connect(to: peripheral)
    }
    func moduleLinkIsReady(_ peripheral: CBPeripheral) { write("ready") }
    func moduleLinkDidReceive(_ text: String) { write("received \(text)") }
    func moduleLinkDidDisconnect(_ peripheral: CBPeripheral, error: NSError?) {
      write("disconnected \(error?.code ?? -1)")
    }
  }

  @Test func aSerialModuleInSwift5Mode() async throws {
    let module = ScriptedPeripheral.serialPort { bytes in Array("echo ".utf8) + bytes }
    let radio = ScriptedRadio(.on, [module])
    let (app, queue) = (App(), DispatchQueue(label: "app"))
    radio.use { queue.sync { moduleLink = ModuleLink(delegate: app, queue: queue) } }
    try await app.lines.wait { $0 == ["state 5"] }
    queue.sync { moduleLink.startScan() }
    try await app.lines.wait { $0.last == "ready" }
    queue.sync { moduleLink.send("hello") }
    try await app.lines.wait { $0.last == "received echo hello" }
    queue.sync {
      #expect(moduleLink.isReady && moduleLink.strengths[moduleLink.connectedPeripheral!] == -50)
      module.setStrength(-70)
      moduleLink.readRSSI()
    }
    try await eventually("the strength") { queue.sync { moduleLink.strengths.values.first == -70 } }
    module.disconnect()
    try await app.lines.wait { $0.last == "disconnected 7" }
    queue.sync { moduleLink.startScan() }
    try await app.lines.wait { $0.last == "ready" }
    radio.set(.off)
    try await app.lines.wait { $0.last == "state 4" }
    #expect(queue.sync { !moduleLink.isReady })
    radio.set(.on)
    try await app.lines.wait { $0.last == "state 5" }
    queue.sync { moduleLink.startScan() }
    try await app.lines.wait { $0.last == "ready" }
    queue.sync { moduleLink.disconnect() }
    try await app.lines.wait { $0.last == "disconnected -1" }
    // It cancels in its deinit, and everything goes with it.
    queue.sync { moduleLink.startScan() }
    try await app.lines.wait { $0.last == "ready" }
    queue.sync { moduleLink = nil }
    try await radio.status.wait { $0.managers == 0 && $0.connected.isEmpty }
    #expect(app.lines.value.count { $0.hasPrefix("found") } == 4)
  }

  @Test @MainActor func aModelOfTheMainActorInSwift6Mode() async throws {
    let meter = ScriptedPeripheral(
      "Meter", [ScriptedService("180f", [ScriptedCharacteristic("2a19", .read, value: [87])])])
    let radio = ScriptedRadio(.on, [meter])
    let model = MeterModel()
    let percent = try await radio.use { Task { try await model.percent() } }.value
    #expect(percent == 87)
    let off = ScriptedRadio(.off)
    let other = MeterModel()
    await #expect(throws: CBError.self) { try await off.use { Task { try await other.percent() } }.value }
  }

  /// What the lab shows with bluetoothd, with a radio that the test plays.
  @Test func theWholeStory() async throws {
    let module = ScriptedPeripheral.serialPort { $0 }
    let radio = ScriptedRadio(.on, [module])
    let lines = Locked<[String]>([])
    let story = radio.use {
      Story { line in
        lines.withLock { $0.append(line) }
      } order: { order in
        switch order {
        case "module disconnect": module.disconnect()
        case "module vanish": module.vanish()
        case "module return": module.appear()
        case "power off": radio.set(.off)
        case "bluetoothd kill": radio.set(.resetting)
        default: radio.set(.on)
        }
      }
    }
    try await story.tell()
    #expect(lines.withLock { $0.count } == 16 && lines.withLock { $0.allSatisfy { $0.hasPrefix("ok: ") } })
    try await radio.status.wait { $0.managers == 0 && $0.connected.isEmpty }
  }
}
