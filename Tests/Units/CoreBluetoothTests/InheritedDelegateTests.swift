// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

@testable import CoreBluetooth

/// Delegates whose class inherits being one. Swift calls the methods that the superclass has, and no others.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct InheritedDelegateTests {
  class Base: NSObject, CBPeripheralDelegate {}

  final class Meter: Base {
    let calls = Counter()
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { calls.add() }
  }

  class Whole: NSObject, CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}
  }

  final class Overriding: Whole {
    let calls = Counter()
    override func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { calls.add() }
  }

  final class Counter: Sendable {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  private static func texts(_ name: String) -> [String] { Misuse.texts.filter { $0.contains(name) } }

  /// What happens is said, once: what to write instead is in the text.
  @Test func aMethodThatOnlyASubclassHasIsLogged() async throws {
    let radio = ScriptedRadio(.on, [ScriptedPeripheral("Heart", advertising: ["180d"], [ScriptedService("180d", [])])])
    let diary = Diary()
    let (_, device) = try await diary.connected(radio)
    let meter = Meter()
    device.delegate = meter
    for _ in 0..<2 { device.discoverServices(nil) }
    try await eventually("the line in the log") { !Self.texts("If Meter has it").isEmpty }
    #expect(
      Self.texts("If Meter has it") == [
        "Base is a delegate without peripheral(_:didDiscoverServices:). If Meter has it, it isn't called: declare it in Base, too, and "
          + "write override in Meter"
      ])
    #expect(meter.calls.value == 0)
    let overriding = Overriding()
    device.delegate = overriding
    device.discoverServices(nil)
    try await eventually("the call") { overriding.calls.value == 1 }
    #expect(Self.texts("Overriding").isEmpty && Self.texts("Whole").isEmpty)
  }

  /// A delegate that says it itself may leave methods out.
  @Test func aDelegateOfItsOwnIsNotLogged() async throws {
    final class Careless: NSObject, CBPeripheralDelegate {}
    InheritedDelegate.calledDefault(of: "a(_:)", Careless()) { $0 is any CBPeripheralDelegate.Type }
    #expect(Self.texts("Careless").isEmpty)
  }
}
