// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// A service shares an accessory by frames: with programs that call `Share`, and with bridges.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ServiceFramesTests {
  private static func share(_ box: Sandbox) async throws -> any Transport {
    let socket = box.socket
    let client = try await ControlClient.connect(to: socket)
    return try await client.upgrade(Bridge.Share(device: "A1", access: .write, by: .frames)).transport
  }

  /// Clients of `Share` and of two bridges. All count their requests alike.
  @Test func theServiceGivesEachClientItsOwnReplies() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--serial", "A1", "--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      #expect(try await box.run("battery", "A1").status == 0)
      // Half a frame, after something that is none: its client stays, and is in nobody's way.
      let hostile = try await Self.share(box)
      let half = try AskingClient(kind: .af1, number: 9).request(1).dropLast(3)
      #expect(hostile.output.offer(Array("AT\r\n".utf8) + half) == .accepted)
      try await service.errors(containing: "are not a frame of the accessory's protocol")
      for name in ["one", "two"] {
        let bridge = try box.start(
          ["bridge", "A1", "--by", "frames", "--unix", "./\(name).sock"], limit: Sandbox.longLife)
        try await bridge.errors(containing: " is open")
      }
      let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 {
          group.addTask {
            let transport: any Transport =
              switch number % 3 {
              case 0: try await Self.share(box)
              case 1: try await DescriptorTransport.open(unix: box.directory.path + "/one.sock")
              default: try await DescriptorTransport.open(unix: box.directory.path + "/two.sock")
              }
            return try await AskingClient(kind: .af1, number: number).ask(100, over: transport)
          }
        }
        return try await group.reduce(0, +)
      }
      #expect(wrong == 0)
      // One who wants the bytes would disturb them.
      let bytes = try await box.run("bridge", "A1", "--by", "bytes", "--unix", "./three.sock", "--on-unplug", "end")
      #expect(
        bytes.status == EX_UNAVAILABLE && bytes.errorText.contains("its frames are shared with"), "\(bytes.errorText)")
      let remembered = try await box.run("battery", "A1")
      #expect(remembered.status == 0 && remembered.errorText.contains("this was read "))
      await hostile.close()
      service.signal(SIGINT)
      _ = try await service.end()
      try await simulator.stop()
    }
  }

  /// A board that nobody knows is held with a profile without a driver: its bytes can be shared, its frames can't.
  @Test func anUnknownProtocolIsSharedByBytesOnly() async throws {
    try await Sandbox.with { box in
      #expect(mkdir(box.directory.path + "/profiles", 0o755) == 0)
      try box.directory.write(Array("name: board\nmatch: {serial: B1}\n".utf8), to: "profiles/board.yaml")
      let simulator = try await box.simulate(kind: "loopback", "--serial", "B1")
      let service = try await box.serve()
      try await service.errors(containing: "B1 is attached at")
      let refused = try await box.run("bridge", "B1", "--by", "frames", "--unix", "./b.sock")
      #expect(
        refused.status == EX_CONFIG && refused.errorText.contains("its protocol isn't known"), "\(refused.errorText)")
      let socket = box.socket
      let client = try await ControlClient.connect(to: socket)
      do throws(ControlError) {
        _ = try await client.upgrade(Bridge.Share(device: "B1", access: .write, by: .frames))
        Issue.record("frames of an unknown protocol were shared")
      } catch {
        let its = error.accessoryError
        #expect(its.kind == .unsupported && its.message.contains("share its bytes"), "\(its.message)")
      }
      service.signal(SIGINT)
      _ = try await service.end()
      try await simulator.stop()
    }
  }
}
