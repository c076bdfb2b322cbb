// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryDrivers
import AccessoryProtocols
import AccessorySimulator
import FamilyEV3
import FamilyEV3Simulator
import TestSupport
import Testing

@testable import BridgeService

/// Commands by name and files through the service, with a pretended brick on a real pseudo-terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct BrickTests {
  static let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  private func with(
    _ change: (inout EV3Simulator.Configuration) -> Void = { _ in },
    _ body: (ServiceHarness, EV3Simulator, ControlClient) async throws -> Void
  ) async throws {
    try await ServiceHarness.with(profiles: [.ev3]) { harness in
      let brick = try await harness.simulateBrick(change)
      try await harness.attached(EV3Device.Configuration().serialNumber)
      try await body(harness, brick, try await harness.client())
    }
  }

  /// Gets a file as a client does.
  private func get(
    _ harness: ServiceHarness, _ path: String, patience: Int? = nil,
    _ each: (Bridge.GetFile.Reply) async throws -> Void = { _ in }
  ) async throws -> (bytes: [UInt8], last: Bridge.GetFile.Reply) {
    let file = MemoryFile()
    for try await answer in try await harness.client().stream(Bridge.GetFile(path: path, patience_ms: patience)) {
      try await each(answer)
      switch answer.event {
      case .begin: try await file.begin(size: answer.size_bytes ?? 0)
      case .piece: try await file.insert(try #require(answer.bytes), at: try #require(answer.offset))
      case .interrupted: break
      case .done: return (file.bytes, answer)
      }
    }
    throw Hang("the last answer")
  }

  /// Sends a file as a client does.
  private func send(
    _ harness: ServiceHarness, _ bytes: [UInt8], to path: String, patience: Int? = nil,
    _ each: (Bridge.SendFile.Reply) async throws -> Void = { _ in }
  ) async throws -> Bridge.SendFile.Reply {
    let supplier = try await harness.client()
    let call = Bridge.SendFile(path: path, size_bytes: bytes.count, patience_ms: patience)
    for try await answer in try await harness.client().stream(call) {
      try await each(answer)
      switch answer.event {
      case .wanted:
        let (offset, count) = (try #require(answer.offset), try #require(answer.count_bytes))
        let piece = Array(bytes[offset..<(offset + count)])
        _ = try await supplier.call(
          Bridge.SupplyFile(transfer: try #require(answer.transfer), offset: offset, bytes: piece))
      case .interrupted: break
      case .done: return answer
      }
    }
    throw Hang("the last answer")
  }

  // MARK: - Commands

  @Test func everyCommandIsTold() async throws {
    try await with { _, _, client in
      let reply = try await client.call(Bridge.GetCommands())
      #expect(reply.driver == "ev3")
      #expect(reply.commands == Driver.ev3.commands)
      #expect(try Driver.af1.commands == JSON(encoding: Driver.af1.commands).decoded())
    }
  }

  @Test func commandsOfABatchAreAnsweredTogether() async throws {
    try await with { _, brick, client in
      let speed: [String: String] = ["ports": "a,B", "speed": "-50"]
      let many = try await client.call(
        Bridge.Perform(commands: [
          .init("motor-speed", speed), .init("motor-start", ["ports": "A,B"]), .init("power"), .init("name"),
        ]))
      #expect(many.replies.map(\.command) == ["motor-speed", "motor-start", "power", "name"])
      #expect(many.replies[2].values == [.number(7.5), .number(0.18), .number(0.18), .number(0)])
      #expect(many.replies[3].values.first == .text("EV3"))
      let read = try await client.call(Bridge.Perform(commands: [.init("motor-read", ["port": "A"])]))
      #expect(read.replies[0].values[0] == .whole(-50))
      let before = await brick.messageCount
      let quiet = try await client.call(Bridge.Perform(commands: [.init("led", ["pattern": "red"])], no_reply: true))
      #expect(quiet.replies == [])
      try await eventually("the command") { await brick.messageCount > before }
    }
  }

  @Test func mistakesInABatchReachNoBrick() async throws {
    try await with { _, brick, client in
      let before = await brick.messageCount
      for commands: [Bridge.CommandCall] in [
        [], [.init("fly")], [.init("motor-start")], [.init("motor-start", ["ports": "E"])],
        [.init("power"), .init("power", ["x": "1"])],
        Array(repeating: .init("folders", ["path": String(repeating: "x", count: 200)]), count: 6),
      ] {
        let name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Perform(commands: commands))
        }
        #expect(name == "Misconfigured", "\(commands.first?.name ?? "")")
      }
      #expect(await brick.messageCount == before)
      let refused = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Perform(commands: [.init("motor-start", ["ports": "A", "layer": "1"])]))
      }
      #expect(refused == "Refused")
    }
  }

  // MARK: - Files

  @Test func filesPassThroughTheServiceBothWays() async throws {
    try await with { harness, brick, client in
      _ = try await client.call(Bridge.MakeFolder(path: "../prjs/x"))
      for count in [0, 1, 1_017, 1_018, 8_192, 8_193, 100_000] {
        let bytes = Array(Self.bytes.prefix(count))
        let sent = try await send(harness, bytes, to: "../prjs/x/y")
        #expect(sent.resumptions == 0 && sent.device?.driver == "ev3")
        #expect(await brick.device.files.contents("../prjs/x/y") == bytes)
        let got = try await get(harness, "../prjs/x/y")
        #expect(got.bytes == bytes && got.last.size_bytes == count && got.last.resumptions == 0)
      }
      let list = try await client.call(Bridge.ListFolder(path: "../prjs/x"))
      #expect(
        list.entries == [.init("y", .file, size: 100_000, md5: MD5.hexadecimal(Self.bytes))])
      let full = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Remove(path: "../prjs/x"))
      }
      #expect(full == "Refused")
      _ = try await client.call(Bridge.Remove(path: "../prjs/x/y"))
      _ = try await client.call(Bridge.Remove(path: "../prjs/x"))
      #expect(await brick.device.openHandles == 0)
      let missing = await #expect(throws: ControlError.self) { try await get(harness, "../prjs/none") }
      #expect(missing?.accessoryError.kind == .refused)
      let forbidden = await #expect(throws: ControlError.self) { try await send(harness, [1], to: "/etc/passwd") }
      #expect(forbidden?.accessoryError.kind == .refused)
    }
  }

  /// While a file is on its way others are answered, and nobody can borrow the brick.
  @Test func othersAreAnsweredDuringATransfer() async throws {
    try await with { harness, _, client in
      var batteries = 0
      _ = try await send(harness, Self.bytes, to: "../prjs/y") { answer in
        guard answer.event == .wanted else { return }
        _ = try await client.call(Bridge.GetBattery())
        batteries += 1
        if batteries == 1 {
          let borrower = try await harness.client()
          let name = await errorName { () throws(ControlError) in _ = try await borrower.upgrade(Bridge.Open()) }
          #expect(name == "Busy")
        }
      }
      #expect(batteries == 13)
      let (_, transport) = try await client.upgrade(Bridge.Open())
      await transport.close()
    }
  }

  /// A client that goes in the middle: nothing stays open on the brick, and no half file.
  @Test func aClientThatGoesLeavesNoHalfFile() async throws {
    try await with { harness, brick, client in
      await brick.put(Self.bytes, at: "../prjs/whole")
      let receiver = try await harness.client()
      var pieces = 0
      for try await answer in try receiver.stream(Bridge.GetFile(path: "../prjs/whole")) {
        if answer.event == .piece { pieces += 1 }
        if pieces == 3 { break }
      }
      receiver.close()
      try await eventually("the handle's end") { await brick.device.openHandles == 0 }
      let sender = try await harness.client()
      for try await answer in try sender.stream(Bridge.SendFile(path: "../prjs/half", size_bytes: 100_000)) {
        if answer.offset == 8_192 { break }
        _ = try await client.call(
          Bridge.SupplyFile(
            transfer: try #require(answer.transfer), offset: 0, bytes: Array(Self.bytes.prefix(8_192))))
      }
      // Whole messages of what came: the next would have needed more.
      #expect(await brick.device.files.contents("../prjs/half")?.count == 8_192 / 1_017 * 1_017)
      sender.close()
      try await eventually("the file's end") {
        let device = await brick.device
        return device.openHandles == 0 && device.files.contents("../prjs/half") == nil
      }
      _ = try await client.call(Bridge.GetBattery())
    }
  }

  /// What isn't wanted is not taken, and disturbs nothing.
  @Test func whatIsBroughtIsWhatIsWanted() async throws {
    try await with { harness, brick, client in
      let supplier = try await harness.client()
      func name(_ transfer: String, _ offset: Int, _ count: Int) async -> String? {
        await errorName { () throws(ControlError) in
          _ = try await supplier.call(
            Bridge.SupplyFile(transfer: transfer, offset: offset, bytes: Array(Self.bytes.prefix(count))))
        }
      }
      #expect(await name("0", 0, 1) == "InvalidParameter")
      var last = ""
      _ = try await send(harness, Array(Self.bytes.prefix(9_000)), to: "../prjs/z") { answer in
        guard let transfer = answer.transfer, let offset = answer.offset, let count = answer.count_bytes else { return }
        #expect(await name(transfer, offset + 1, count) == "InvalidParameter")
        #expect(await name(transfer, offset, count - 1) == "InvalidParameter")
        #expect(await name(transfer + "0", offset, count) == "InvalidParameter")
        last = transfer
      }
      #expect(await name(last, 0, 1) == "InvalidParameter")
      #expect(await brick.device.files.contents("../prjs/z") == Array(Self.bytes.prefix(9_000)))
      let size = await errorName { () throws(ControlError) in
        for size in [-1, 1 << 40] {
          var stream = try supplier.stream(Bridge.SendFile(path: "x", size_bytes: size)).makeAsyncIterator()
          _ = try await stream.next()
        }
      }
      #expect(size == "InvalidParameter")
    }
  }

  /// The cable is pulled in the middle and plugged in again: the transfer goes on, byte for byte.
  @Test(arguments: [30, 31]) func anInterruptedTransferGoesOnWithPatience(at message: Int) async throws {
    func unplugs(_ configuration: inout EV3Simulator.Configuration) {
      configuration.faults.unplug = .request(message)
      configuration.faults.replug = .milliseconds(50)
    }
    for patience in [nil, 60_000] {
      try await with(unplugs) { harness, brick, _ in
        var interruptions = 0
        do {
          let sent = try await send(harness, Self.bytes, to: "../prjs/y", patience: patience) { answer in
            if answer.event == .interrupted { interruptions += 1 }
          }
          #expect(sent.resumptions == 1 && interruptions == 1 && patience != nil)
          #expect(await brick.device.files.contents("../prjs/y") == Self.bytes)
        } catch let error as ControlError {
          #expect(patience == nil && error.accessoryError.kind == .disconnected, "\(error)")
        }
      }
      try await with(unplugs) { harness, brick, _ in
        await brick.put(Self.bytes, at: "../prjs/y")
        var interruptions = 0
        do {
          let got = try await get(harness, "../prjs/y", patience: patience) { answer in
            if answer.event == .interrupted { interruptions += 1 }
          }
          #expect(got.last.resumptions == 1 && interruptions == 1 && patience != nil)
          #expect(got.bytes == Self.bytes && got.last.md5 == MD5.hexadecimal(Self.bytes))
        } catch let error as ControlError {
          #expect(patience == nil && error.accessoryError.kind == .disconnected, "\(error)")
        }
      }
    }
  }

  /// One that doesn't come back is waited for as long as the client says.
  @Test func aTransferWaitsOnlyAsLongAsItsPatience() async throws {
    try await with({ $0.faults.unplug = .request(30) }) { harness, _, _ in
      let error = await #expect(throws: ControlError.self) {
        try await send(harness, Self.bytes, to: "../prjs/y", patience: 100)
      }
      #expect(error?.accessoryError.kind == .disconnected)
    }
  }

  /// AF1's accessories have commands, and no files.
  @Test func othersHaveNoFiles() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await harness.client()
      let echo = try await client.call(
        Bridge.Perform(commands: [.init("echo", ["payload": "0102"]), .init("command", ["number": "64"])]))
      #expect(echo.replies.map { $0.values.first } == [.bytes([1, 2]), .bytes([1, 0, 0, 0])])
      var names: [String?] = []
      names.append(
        await errorName { () throws(ControlError) in _ = try await client.call(Bridge.ListFolder(path: "")) })
      names.append(await errorName { () throws(ControlError) in _ = try await client.call(Bridge.Remove(path: "x")) })
      names.append(
        await errorName { () throws(ControlError) in _ = try await client.call(Bridge.MakeFolder(path: "x")) })
      #expect(names == ["Unsupported", "Unsupported", "Unsupported"])
      let error = await #expect(throws: ControlError.self) { try await get(harness, "x") }
      #expect(error?.accessoryError.kind == .unsupported)
    }
  }
}
