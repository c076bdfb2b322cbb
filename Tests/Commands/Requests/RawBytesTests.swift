// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Raw bytes to accessories of a kind that guards them, by each command that could send some: without permission none of them reaches
/// the accessory. Which kinds guard them, and that all rules refuse them then, `RawBytesRuleTests` show of each kind that ships.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct RawBytesTests {
  /// A kind with a stream of bytes of each sort: it answers, answers by Modbus, sends by itself, or has a driver in Swift.
  static let simulated = ["jbd", "epever", "vedirect", "mavlink"]

  /// These, one that is only on the air, and one without a stream of bytes.
  static let guarded = simulated + ["jk02", "hid-power"]

  /// What is sent. No request of ours has these bytes, so that they are found among them.
  private static let mark = "~raw 04~"

  /// An accessory that answers nothing, announced with a driver; and all that reaches it.
  private struct End {
    let path: String
    let arrived: Watched<[UInt8]>
    var text: String { String(decoding: arrived.value, as: UTF8.self) }
  }

  private static func with(_ kind: String, _ body: (Sandbox, End) async throws -> Void) async throws {
    let terminal = try await PseudoTerminal.open()
    let (transport, arrived) = (terminal.transport, Watched<[UInt8]>([]))
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        arrived.update { [bytes] in $0 += bytes }
      }
    }
    try await Sandbox.with { box in
      let places = [box.runtime.path + "/accessory-bridge", box.runtime.path + "/accessory-bridge/simulated"]
      for place in places { mkdir(place, 0o700) }
      let announcement = try AnnouncementFile(
        Announcement(path: terminal.path, driver: kind, serial: "P1"), name: "one", directory: places[1])
      defer { announcement.remove() }
      try box.directory.write(Array(mark.utf8), to: "file")
      try await body(box, End(path: terminal.path, arrived: arrived))
    }
    await transport.close()
  }

  /// A shell that types the mark to what is started.
  private static let typing = ["/bin/sh", "-c", "echo '\(mark)' | \"$0\" \"$@\""]

  @Test(arguments: guarded) func theSamplesAreGuarded(_ kind: String) throws {
    let driver = try #require(DriverLibrary.builtIn.driver(named: kind))
    #expect(driver.rawBytes != .harmless && (driver.frames != nil || !Self.simulated.contains(kind)))
  }

  /// The user may ask for it: without a profile that allows it, that isn't enough.
  @Test(arguments: guarded) func nothingReachesTheAccessory(_ kind: String) async throws {
    try await Self.with(kind) { box, end in
      for permission in [[], ["--write"]] {
        let calls: [(words: [String], prefix: [String])] = [
          (["console", "P1", "--linger", "10ms"] + permission, Self.typing),
          (["console", end.path, "--driver", kind, "--linger", "10ms"] + permission, Self.typing),
          (["request", "P1", "0x04", "7e7e"] + permission, []),
          // Another driver's frames are raw bytes, too.
          (["request", "P1", "0x04", "7e7e", "--driver", "framed"] + permission, []),
        ]
        for (words, prefix) in calls {
          let ended = try await box.run(words, prefix: prefix)
          #expect(ended.status == EX_NOPERM, "\(words): \(ended.errorText)")
          #expect(ended.errorText.contains("must say driver: \(kind) and writes: allowed"), "\(ended.errorText)")
          #expect(ended.errorText.contains("the command must have --write") == permission.isEmpty)
        }
      }
      let file = try await box.run("send-file", "P1", "file", "--driver", "framed")
      #expect(file.status == EX_NOPERM, "\(file.errorText)")
      // Without that driver there is nothing that could send a file.
      #expect(try await box.run("send-file", "P1", "file").status == EX_UNAVAILABLE)
      // A replay is an accessory, not a host: it takes no device to send to.
      try box.directory.write(
        Array(
          "#accessory-bridge-recording 1 silence 0.050000000 frames none\n0.000412000 > 04\n0.100000000 < 7e7261\n".utf8
        ), to: "a.trace")
      #expect(try await box.run("replay", "a.trace", "--link", end.path, "--patience", "1s").status != 0)
      #expect(end.arrived.value.isEmpty, "\(end.text)")
    }
  }

  /// Opens a terminal of a bridge, sends the mark, and waits until the bridge has said that it is thrown away.
  private static func expectRefusal(by bridge: Program, _ box: Sandbox, _ kind: String) async throws {
    try await bridge.errors(containing: "is open for reading")
    try await bridge.errors(containing: "must say driver: \(kind) and writes: allowed")
    let tty = open(box.directory.path + "/tty", O_RDWR | O_NOCTTY)
    defer { close(tty) }
    #expect(tty >= 0 && write(tty, mark + "\r\n", mark.utf8.count + 2) > 0)
    try await bridge.errors(containing: "may not write: what it sends is discarded")
    bridge.signal(SIGINT)
    let ended = try await bridge.end()
    #expect(ended.status == 0 && ended.errorText.contains("--writers none"), "\(ended.errorText)")
  }

  /// A bridge opens it for reading, says how clients could write, and throws away what they send.
  @Test(arguments: guarded) func aBridgeIsOnlyRead(_ kind: String) async throws {
    try await Self.with(kind) { box, end in
      try await Self.expectRefusal(by: try box.start("bridge", "P1", "--pty", "tty", "--by", "bytes"), box, kind)
      // Asked for, it ends before a client can come.
      let asked = try await box.run("bridge", "P1", "--pty", "tty", "--write")
      #expect(asked.status == EX_NOPERM && asked.outputText.isEmpty, "\(asked.outputText)\(asked.errorText)")
      #expect(end.arrived.value.isEmpty, "\(end.text)")
    }
  }

  /// With a service all of that goes by it, and is refused there. What passes meanwhile is the service's own.
  @Test(arguments: simulated) func theServiceRefusesRawBytes(_ kind: String) async throws {
    try await Sandbox.with { box in
      let words = kind == "mavlink" ? ["mavlink"] : ["--profile", kind]
      let simulator = try box.start(["simulate"] + words + ["--serial", "P1"], limit: Sandbox.longLife)
      try await simulator.line(containing: " is plugged in at ")
      try await box.serve().errors(containing: "P1 is attached at")
      let trace = try box.start("trace", "P1", "--full")
      for permission in [[], ["--write"]] {
        let console = try await box.run(["console", "P1", "--linger", "10ms"] + permission, prefix: Self.typing)
        #expect(console.status == EX_NOPERM, "\(console.errorText)")
        let request = try await box.run(["request", "P1", "0x04", "7e7e"] + permission)
        #expect(request.status == EX_NOPERM, "\(request.errorText)")
      }
      try await Self.expectRefusal(by: try box.start("bridge", "P1", "--pty", "tty", "--by", "bytes"), box, kind)
      let asked = try await box.run("bridge", "P1", "--pty", "tty", "--write")
      #expect(asked.status == EX_NOPERM && asked.outputText.isEmpty, "\(asked.outputText)\(asked.errorText)")
      trace.signal(SIGINT)
      let passed = try await trace.end()
      #expect(passed.status == 0 && !passed.outputText.contains("7e726177") && !passed.outputText.contains("raw 04"))
    }
  }

  /// A user's own description is closed, too, until it says that raw bytes are harmless; the error says so.
  @Test func aDescriptionAllowsRawBytesByItsWord() async throws {
    let text = """
      protocol: lamp
      version: 1
      framings:
        line: {layout: [data, end: "\\n"], max: 32}
      messages:
        any: {framing: line, pattern: "!{text}", pushed: true}
      """
    try await Self.with("lamp") { box, end in
      mkdir(box.directory.path + "/protocols", 0o700)
      try box.directory.write(Array((text + "\n").utf8), to: "protocols/lamp.yaml")
      let refused = try await box.run(["console", "P1", "--linger", "10ms"], prefix: Self.typing)
      #expect(refused.status == EX_NOPERM && end.arrived.value.isEmpty)
      #expect(refused.errorText.contains("the description of lamp must say raw: harmless"), "\(refused.errorText)")
      try box.directory.write(Array((text + "\nraw: harmless\n").utf8), to: "protocols/lamp.yaml")
      let sent = try await box.run(["console", "P1", "--linger", "10ms"], prefix: Self.typing)
      #expect(sent.status == 0, "\(sent.errorText)")
      #expect(
        String(decoding: try await end.arrived.wait { $0.count > Self.mark.utf8.count }, as: UTF8.self).hasPrefix(
          Self.mark))
    }
  }
}
