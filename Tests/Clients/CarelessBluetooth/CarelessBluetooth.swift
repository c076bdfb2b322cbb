// SPDX-License-Identifier: Apache-2.0

import AccessoryTesting
import CoreBluetooth
import Glibc

/// How a client ends, or what it does instead.
enum Way: String {
  /// Everything is let go while a search goes on, values come and writes are on the way.
  case dropped
  /// The same, a hundred times.
  case droppedAgainAndAgain
  /// The client cancels in its `deinit`.
  case cancelledInDeinit
  /// 10,000 writes without a response, without a look at `canSendWriteWithoutResponse`, and then nothing more.
  case writes
  /// Ten threads call what they like, and end.
  case threads
  /// The manager is kept, and Bluetooth is switched off while everything is under way.
  case switchedOff
  /// It is kept and connected, and the device sends nothing any more.
  case connected
  /// It waits for a device that isn't there.
  case waiting
}

/// A client that does as it likes, with a module that sends back what it gets.
///
/// `@unchecked Sendable`: what it stores is set before `init` returns, on its queue.
final class Client: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  static let radio = ScriptedRadio(.on, [module])
  static let module = ScriptedPeripheral.serialPort { $0 }
  private(set) var manager: CBCentralManager!
  private(set) var device: CBPeripheral?
  private let cancels: Bool
  private let isReady = DispatchSemaphore(value: 0)

  init(cancels: Bool = false) {
    self.cancels = cancels
    super.init()
    Self.radio.use { manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "client")) }
    isReady.wait()
  }

  deinit { if cancels, let device { manager.cancelPeripheralConnection(device) } }

  var port: CBCharacteristic? { device?.services?.first?.characteristics?.first }

  func write(_ count: Int) {
    guard let device, let port else { return }
    for _ in 0..<count { device.writeValue(Data([1]), for: port, type: .withoutResponse) }
  }

  func callAnything(_ count: Int) {
    guard let device else { return }
    for _ in 0..<count {
      switch Int.random(in: 0..<8) {
      case 0: manager.connect(device)
      case 1: manager.cancelPeripheralConnection(device)
      case 2: manager.scanForPeripherals(withServices: nil)
      case 3: manager.stopScan()
      case 4: device.discoverServices(nil)
      case 5: if let port { device.setNotifyValue(Bool.random(), for: port) }
      case 6: device.readRSSI()
      default: write(1)
      }
    }
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    guard device == nil else { return }
    (device, peripheral.delegate) = (peripheral, self)
    central.connect(peripheral)
  }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices(nil)
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    for port in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: port) }
    isReady.signal()
  }
}

/// A program whose client is careless. Its word says how. Then it has nothing to do for two seconds, and prints how many ticks of
/// processor time that took.
@main enum Program {
  static func main() {
    guard let way = CommandLine.arguments.dropFirst().first.flatMap(Way.init) else { exit(64) }
    var kept: Client?
    switch way {
    case .dropped: Client().write(100)
    case .droppedAgainAndAgain: for _ in 0..<100 { Client().write(100) }
    case .cancelledInDeinit: for _ in 0..<10 { Client(cancels: true).write(100) }
    case .writes:
      kept = Client()
      kept?.write(10_000)
    case .threads:
      let client = Client()
      DispatchQueue.concurrentPerform(iterations: 10) { _ in client.callAnything(300) }
      kept = client
    case .switchedOff:
      kept = Client()
      kept?.write(100)
      Client.radio.set(.off)
    case .connected:
      kept = Client()
      kept?.manager.stopScan()
    case .waiting:
      kept = Client()
      Client.module.vanish()
      if let device = kept?.device { kept?.manager.connect(device) }
    }
    withExtendedLifetime(kept) { measure() }
  }

  /// On a busy machine it may still have to finish what it did before, so it has five times two seconds to come to rest.
  private static func measure() -> Never {
    var taken = Int.max
    for _ in 0..<5 where taken > 1 {
      let before = ticks()
      usleep(2_000_000)
      taken = ticks() - before
    }
    print("\(taken) ticks")
    exit(taken <= 1 ? 0 : 1)
  }

  /// Of the processor, by this process: 100 a second.
  private static func ticks() -> Int {
    var used = tms()
    times(&used)
    return used.tms_utime + used.tms_stime
  }
}
