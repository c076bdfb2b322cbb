// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyBluno
import FamilyEV3
import FamilyHM10
import FamilyHM1X
import FamilyMAVLink

/// A program that uses the accessory, as the input says. Nothing here may trap, hang, or spin, whatever the device does.
struct Requests: Sendable {
  let accessory: (any Accessory)?
  let lines: Link<LineExchange>?
  let central: HM10Central?

  /// One request, chosen by these numbers.
  func one(_ kind: UInt8, _ choice: UInt8, _ bytes: [UInt8]) async {
    do {
      if let lines { return try await ask(lines, kind, bytes) }
      guard let accessory else { return }
      switch kind % 10 {
      case 0: _ = try await accessory.battery()
      case 1: _ = try await accessory.status()
      case 2: _ = try await accessory.identify()
      case 3, 4, 5: try await perform(on: accessory, choice, bytes, isAnswered: kind & 0x10 == 0)
      case 6: try await files(of: accessory, choice, bytes)
      case 7 where accessory is DescribedAccessory || accessory is MAVLinkAutopilot: _ = try await accessory.values()
      default: try await special(accessory, kind, choice, bytes)
      }
    } catch {}
  }

  private func ask(_ lines: Link<LineExchange>, _ kind: UInt8, _ bytes: [UInt8]) async throws {
    if kind % 3 == 0 { return _ = try await lines.request(LineRequest(bytes, name: "bytes")) }
    let request = LineRequest(bytes, name: "a question", timeout: .milliseconds(Int(kind))) { $0.count % 2 == 0 }
    if kind % 3 == 1 { return _ = try await lines.request(request) }
    for try await _ in try await lines.requestAndEvents(request).events {}
  }

  private func perform(
    on accessory: any Accessory, _ choice: UInt8, _ bytes: [UInt8], isAnswered: Bool
  ) async throws {
    let driver: Driver? =
      switch accessory {
      case is AF1Accessory: .af1
      case is EV3Brick: .ev3
      case is HM10Module: .hm10
      case is BlunoRobot: .bluno
      case is HM1XCar: .hm1x
      case let described as DescribedAccessory: Driver(described.description)
      default: nil
      }
    guard let commands = driver?.commands, !commands.isEmpty else { return }
    let command = commands[Int(choice) % commands.count]
    var script = Script(bytes)
    var arguments: [String: String] = [:]
    for argument in command.arguments {
      // What is read from a file of this machine isn't the device's doing.
      if ["file", "remote"].contains(argument.name) { return }
      switch argument.kind {
      case .whole(let range):
        let span = range.upperBound.subtractingReportingOverflow(range.lowerBound)
        let width = span.overflow ? Int.max : span.partialValue
        arguments[argument.name] = "\(range.lowerBound + min(width, script.number(below: 256) * max(1, width / 255)))"
      case .choice(let words): arguments[argument.name] = words[script.number(below: words.count)]
      case .choices(let words): arguments[argument.name] = words[script.number(below: words.count)]
      case .text(let limit):
        arguments[argument.name] = String("text of a word".prefix(min(limit, script.number(below: 14))))
      case .bytes(let limit): arguments[argument.name] = String("0102030405".prefix(2 * min(limit, 5)))
      case .flag: arguments[argument.name] = script.byte() & 1 == 0 ? "no" : "yes"
      }
    }
    let call = try CommandCall(command.name, arguments, of: commands)
    _ = try await accessory.perform([call], isAnswered: isAnswered)
  }

  private func files(of accessory: any Accessory, _ choice: UInt8, _ bytes: [UInt8]) async throws {
    guard let files = accessory.files else { return }
    switch choice % 5 {
    case 0: _ = try await files.entries(of: "../prjs")
    case 1: try await files.makeFolder("../prjs/x")
    case 2: try await files.remove("../prjs/x")
    case 3:
      var transfer = try files.makeGetTransfer("../prjs/a", limit: 100_000, into: MemoryFile())
      try await transfer.run(on: accessory, progress: nil)
    default:
      let source = MemoryFile([UInt8](repeating: 7, count: bytes.count * 60))
      var transfer = try files.makeSendTransfer(source, to: "../prjs/a", as: .other)
      try await transfer.run(on: accessory, progress: nil)
    }
  }

  private static let address = BluetoothAddress(rawValue: 0x0017_EA09_0909)!

  private func special(_ accessory: any Accessory, _ kind: UInt8, _ choice: UInt8, _ bytes: [UInt8]) async throws {
    switch accessory {
    case let af1 as AF1Accessory:
      if kind & 1 == 0 {
        for try await _ in try await af1.batteryAndEvents().events {}
      } else {
        _ = try await af1.request(AF1Command(rawValue: choice), payload: bytes)
      }
    case let robot as BlunoRobot:
      if kind & 1 == 0 {
        for try await _ in robot.texts() {}
      } else {
        _ = try await robot.text(of: BlunoParameter.allCases[Int(choice) % BlunoParameter.allCases.count])
      }
    case let module as HM10Module: try await bluetooth(module, kind, choice, bytes)
    default: for try await _ in accessory.news() {}
    }
  }

  private func bluetooth(_ module: HM10Module, _ kind: UInt8, _ choice: UInt8, _ bytes: [UInt8]) async throws {
    switch choice % 12 {
    case 0: _ = try await module.scan()
    case 1: _ = try await module.scan(for: .discoverBeacons)
    case 2: try await module.connect(to: Self.address)
    case 3: try await module.connect(toIndex: Int(kind) % 6)
    case 4: try await module.disconnect()
    case 5: try await module.send(bytes)
    case 6: for try await _ in module.events() {}
    case 7: try await central?.start(searching: kind & 1 == 0 ? nil : .seconds(3))
    case 8: try await central?.search(for: .seconds(Int(kind)))
    case 9: try await central?.connect(to: Self.address)
    case 10: try await central?.disconnect(from: Self.address)
    default: try await central?.send(bytes, to: Self.address)
    }
  }
}
