// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyHM10
import FamilyHM1X
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyBluno
@testable import FamilyEV3

/// What drivers in Swift would send for their commands, without an accessory.
struct PreviewTests {
  private func hex(_ driver: Driver, _ words: String...) throws -> [String] {
    try driver.preview(of: CommandCall.read(words, of: driver.commands)).map { Hexadecimal.string($0) }
  }

  private func text(_ driver: Driver, _ words: String...) throws -> [String] {
    try driver.preview(of: CommandCall.read(words, of: driver.commands)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A value that an argument can have.
  private func sample(_ argument: CommandDescription.Argument) -> CommandValue {
    switch argument.kind {
    case .whole(let range): .whole(range.lowerBound)
    case .choice(let words): .text(words[0])
    case .choices(let words): .list([.text(words[0])])
    case .bytes: .bytes([0xFF, 0xE0])
    case .flag: .flag(true)
    case .text:
      switch argument.name {
      case "address", "bind": .text("0x0017EA090909")
      case "command": .text("AT+X")
      case "task": .text("2")
      case "setting": .text("DEFAULT")
      default: .text("a")
      }
    }
  }

  @Test(arguments: ["framed", "ev3", "hm10", "bluno", "hm1x"])
  func everyCommandHasOne(name: String) throws {
    let driver = try #require(DriverLibrary.builtIn.driver(named: name))
    #expect(!driver.previewRemark.isEmpty && driver.commands.count > 3)
    for command in driver.commands {
      let values = Dictionary(uniqueKeysWithValues: command.arguments.map { ($0.name, sample($0)) })
      do throws(AccessoryError) {
        let frames = try driver.preview(of: [CommandCall(command: command, values: values)])
        #expect(!frames.isEmpty && frames.allSatisfy { !$0.isEmpty }, "\(name) \(command.name)")
      } catch {
        // An argument that no sample fits; but no command that has none.
        #expect(error.kind == .misconfigured && !command.arguments.isEmpty, "\(name) \(command.name): \(error)")
      }
    }
  }

  @Test func aPreviewOfAF1IsItsFrames() throws {
    #expect(try hex(.af1, "status") == ["0ff0110200000000c3dc"])
    let echo = try Driver.af1.preview(of: CommandCall.read(["echo", "payload=6869"], of: Driver.af1.commands))
    var codec = AF1Codec(maximumPayload: 64)
    var batch = FrameBatch<AF1Header>()
    let frame = echo[0]
    codec.decode(frame.span.bytes, into: &batch)
    #expect(batch.count == 1 && batch.header(at: 0).command == .echo && batch.payloadBytes(at: 0) == [0x68, 0x69])
  }

  /// One message for all, as the driver sends it.
  @Test func aPreviewOfAnEV3IsOneMessage() throws {
    #expect(try hex(.ev3, "battery-percent") == ["08000000000100811260"])
    #expect(try hex(.ev3, "battery-percent", "+", "motor-speed", "ports=A", "speed=-50").count == 1)
    #expect(throws: AccessoryError.self) { try hex(.ev3, "set-name", "name=" + String(repeating: "x", count: 300)) }
  }

  @Test func aPreviewOfAnHM10IsItsCommands() throws {
    #expect(try text(.hm10, "name", "+", "set-name", "name=Lamp") == ["AT+NAME?", "AT+NAMELamp"])
    #expect(try text(.hm10, "set-power", "power=6", "+", "role") == ["AT+POWE3", "AT+ROLE?"])
    #expect(try text(.hm10, "connect-address", "address=00:17:EA:09:09:09") == ["AT+CON0017EA090909"])
    #expect(throws: AccessoryError.self) { try text(.hm10, "connect-address", "address=nobody") }
  }

  /// AT mode is entered once for commands that follow each other, and left.
  @Test func aPreviewOfABlunoEntersATModeOnce() throws {
    let calls = try CommandCall.read(
      ["key", "key=up", "+", "version", "+", "power", "+", "drive-speed", "speed=128"], of: Driver.bluno.commands)
    let frames = try BlunoRobot.preview(of: calls, by: BlunoRemote()).map { String(decoding: $0, as: UTF8.self) }
    #expect(
      frames == ["f", "+++", "AT\r\n", "AT+VERSION=?\r\n", "AT+TXPOWER=?\r\n", "AT+EXIT\r\n", "<128>"], "\(frames)")
  }

  /// The same bytes as the driver writes.
  @Test func aPreviewOfACarIsWhatIsSent() async throws {
    let words = [
      "headlights", "on=yes", "+", "drive", "steering=-40", "acceleration=200", "+", "stop", "receiver=naive",
    ]
    let calls = try CommandCall.read(words, of: Driver.hm1x.commands)
    let transport = MemoryTransport()
    let car = try await HM1XCar.open(AccessorySession(transport))
    _ = try await car.perform(calls, isAnswered: false)
    let sent = try await transport.nextWritten(12)
    #expect(try Driver.hm1x.preview(of: calls).flatMap { $0 } == sent)
    await car.close()
  }

  @Test func aDriverWithoutCommandsHasNoPreview() {
    #expect(Driver.mavlink.commands.isEmpty)
    #expect(throws: AccessoryError.self) { try Driver.mavlink.preview(of: []) }
  }
}
