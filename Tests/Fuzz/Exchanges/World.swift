// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import FamilyHM10

/// A device, a program that uses it, and time: the input says what each does next.
final class World {
  private let family: Family
  private var script: Script
  private let clock = FuzzClock()
  private let transport: FuzzTransport
  private var device: WellBehaved
  private let opened = Shared<Requests?>(nil)
  private var tasks: [Task<Void, Never>] = []
  private let unfinished = Shared(0)

  init(_ family: Family, _ script: Script) {
    (self.family, self.script) = (family, script)
    device = WellBehaved(family)
    let choice = self.script.byte()
    let timing = choice & 1 == 0 ? LineTiming.instant : .serial(baudRate: 9_600)
    transport = FuzzTransport(timing: timing, keepsMessages: family.isEV3 && choice & 2 != 0)
  }

  func run() {
    begin { [family, transport, clock, opened] in
      let session = AccessorySession(transport)
      if case .lines = family {
        let link = try? await Link.open(session, rules: LineExchange(label: "device"), clock: clock)
        return opened.withLock { $0 = Requests(accessory: nil, lines: link, central: nil) }
      }
      let accessory = try? await DriverLibrary.builtIn.driver(named: family.name)?.open(
        session, profile: nil, clock: clock)
      let central = (accessory as? HM10Module).map { HM10Central([$0], clock: clock) }
      opened.withLock { $0 = Requests(accessory: accessory, lines: nil, central: central) }
    }
    if script.byte() & 1 == 0 { makeContact() }
    while !script.isOver { step() }
    end()
  }

  /// So that not every input has to find out for itself how contact is made.
  private func makeContact() {
    for _ in 0..<4 where opened.withLock({ $0 == nil }) {
      transport.receive(device.answer(transport.takeWritten(), now: clock.now))
      Schedule.run()
      clock.advance(by: .milliseconds(100))
    }
  }

  private func begin(_ body: @escaping @Sendable () async -> Void) {
    guard unfinished.withLock({ $0 }) < 200 else { return }
    unfinished.withLock { $0 += 1 }
    let task = Task { [unfinished] in
      await body()
      unfinished.withLock { $0 -= 1 }
    }
    tasks.append(task)
    Schedule.run()
  }

  private func step() {
    switch script.byte() % 16 {
    case 0, 1: deliver(device.answer(transport.takeWritten(), now: clock.now))
    case 2, 3: deliver(device.madeUp(transport.takeWritten(), &script, now: clock.now))
    case 4: deliver(script.take(script.number(below: 64)))
    case 5: spoil(device.answer(transport.takeWritten(), now: clock.now))
    case 6: clock.advance(by: .milliseconds(script.number(below: 256)))
    case 7: clock.advance(by: .milliseconds(200 * script.number(below: 256)))
    case 8: for _ in 0..<script.number(below: 80) { request(script.byte(), script.byte(), []) }
    case 9, 10, 11: request(script.byte(), script.byte(), script.take(script.number(below: 24)))
    case 12: if !tasks.isEmpty { tasks[script.number(below: tasks.count)].cancel() }
    case 13: transport.isStalled.toggle()
    case 14: break  // what was asked so far waits
    default:
      switch script.byte() {
      case 0: transport.deviceWasRemoved()
      case 1: transport.beginClose()
      case 2: begin { [opened] in await Self.close(opened.withLock { $0 }) }
      default: clock.advance(by: .microseconds(50_001))
      }
    }
    Schedule.run()
  }

  private func request(_ kind: UInt8, _ choice: UInt8, _ bytes: [UInt8]) {
    begin { [opened] in await opened.withLock { $0 }?.one(kind, choice, bytes) }
  }

  private func deliver(_ bytes: [UInt8]) {
    let cut = min(bytes.count, script.number(below: 4) == 0 ? script.number(below: 64) : bytes.count)
    transport.receive(Array(bytes[..<cut]))
    if cut < bytes.count {
      Schedule.run()
      transport.receive(Array(bytes[cut...]))
    }
  }

  /// The answer with a byte changed, twice, or without its end.
  private func spoil(_ bytes: [UInt8]) {
    var bytes = bytes
    guard !bytes.isEmpty else { return }
    switch script.number(below: 3) {
    case 0: bytes[script.number(below: bytes.count)] = script.byte()
    case 1: bytes += bytes
    default: bytes.removeLast(1 + script.number(below: bytes.count))
    }
    deliver(bytes)
  }

  private static func close(_ requests: Requests?) async {
    await requests?.central?.stop()
    await requests?.accessory?.close()
    await requests?.lines?.close()
  }

  /// Whatever was going on, everybody is told when it is closed, or when the device goes.
  private func end() {
    transport.isStalled = false
    if script.byte() & 1 == 0 { transport.deviceWasRemoved() }
    Schedule.run()
    begin { [opened] in await Self.close(opened.withLock { $0 }) }
    clock.advance(by: .seconds(100))
    transport.beginClose()
    Schedule.run()
    clock.advance(by: .seconds(1_000))
    Schedule.run()
    let left = unfinished.withLock { $0 }
    precondition(left == 0, "\(left) requests hang")
  }
}

/// A value that tasks share.
final class Shared<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  init(_ value: Value) { self.value = Locked(value) }

  @discardableResult
  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
