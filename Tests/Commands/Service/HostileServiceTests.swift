// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// What an accessory says of itself goes through the whole service as text: to clients as it was said, to people and
/// programs made harmless, and never into a path, a command line or a log raw.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct HostileServiceTests {
  /// A text with a name that fits on a line, in the bytes that an accessory sends.
  struct Hostile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// As it is understood.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(_ name: String, _ text: String) { (testDescription, bytes) = (name, Array(text.utf8)) }

    init(_ name: String, bytes: [UInt8]) { (testDescription, self.bytes) = (name, bytes) }
  }

  private static let texts = [
    Hostile("a path", "../../../../evil"), Hostile("lines", "one\ntwo\r\n<0>emerg\nACCESSORY_EVENT=x"),
    Hostile("a shell's", "$(touch evil);`touch evil`|touch evil&&touch evil>evil'\""),
    Hostile("a terminal's", "\u{1B}[2J\u{1B}]0;title\u{7}\u{9B}31m\u{202E}x"),
    Hostile("options", "--exec=evil -rf"), Hostile("a unit's", "x.service@%n%i\\x2d"),
    Hostile("4 KiB", String(repeating: "0123456789abcdef", count: 256)),
    Hostile("invalid UTF-8", bytes: [0x41, 0xC3, 0x28, 0xFF, 0xFE, 0xE2, 0x82, 0xED, 0xA0, 0x80, 0x42]),
  ]

  /// An accessory whose identity is these bytes six times over, with a battery that is low.
  private func accessory(_ hostile: Hostile) -> ScriptedAccessory {
    // Longer ones are no AF1 texts: the announcement alone has them.
    let text = hostile.bytes.count > AF1Identity.longestText ? Array("short".utf8) : hostile.bytes
    return ScriptedAccessory { request in
      switch request.command {
      case .identify: .reply(Array(repeating: text + [0], count: 6).joined().map { $0 })
      case .battery: .reply([1, 5])
      case .status: .reply([0, 0, 0, 0])
      default: .silence
      }
    }
  }

  /// Bytes that would make a terminal or a journal do something.
  private func dangers(_ text: String) -> [String] {
    text.unicodeScalars.filter { scalar in
      scalar != "\n"
        && (scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value))
    }.map { String($0.value, radix: 16) }
  }

  @Test(arguments: texts) func hostileTextsDoNoHarmAnywhere(hostile: Hostile) async throws {
    let terminal = try await accessory(hostile).onPseudoTerminal()
    try await Sandbox.with { box in
      try box.directory.write(
        Array("#!/bin/sh\nenv -0 >> log\nprintf 'end\\0' >> log\n".utf8), to: "on-event", mode: 0o700)
      let service = try await box.serve("--log-level", "debug")
      let watch = try box.start("watch", "--exec", "./on-event")
      let documents = try box.start("watch", "--json")
      // An announcement is a file: it can have bytes that no simulator would write. What is no text there, nobody takes;
      // then the accessory's own words remain.
      let isText = String(validating: hostile.bytes, as: UTF8.self) != nil
      let announcement = AccessoryControl.JSON.object([
        "path": .string(terminal.path), "driver": .string("framed"),
        "serial": .string(isText ? hostile.text : "S1"), "name": .string(isText ? hostile.text : "N1"),
        "manufacturer": .string(isText ? hostile.text : "M1"),
      ])
      let name = "accessory-bridge/simulated/device.json"
      try box.runtime.write(announcement.bytes, to: ".device")
      let descriptor = open(box.runtime.path + "/.device", O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      try #require(rename(box.runtime.path + "/.device", box.runtime.path + "/" + name) == 0)
      try await service.errors(containing: "is attached at \(terminal.path)")

      // Clients of the socket get what was said.
      let client = try await ControlClient.connect(to: box.socket)
      let serial = isText ? hostile.text : "S1"
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.serialNumber) == [serial])
      let status = try await client.call(Bridge.GetStatus(device: serial))
      #expect(status.device.name == (isText ? hostile.text : "N1"))
      let said = hostile.bytes.count > AF1Identity.longestText ? "short" : hostile.text
      #expect(status.identity.serialNumber == said && status.identity.manufacturer == said)

      // People see it made harmless.
      for command in ["list", "status", "info", "battery"] {
        let ended = try await box.run(command)
        #expect(ended.status == 0, "\(command): \(ended.errorText)")
        #expect(dangers(ended.outputText) + dangers(ended.errorText) == [], "\(command)")
        let json = try await box.run(command, "--json")
        #expect(dangers(json.outputText) == [] && json.lines.count == 1, "\(command)")
      }
      if hostile.bytes.count <= 256 {
        #expect(try await box.run("battery", "--json", "--", serial).json()["battery"]?["percent"] == 5)
      }

      // Programs get it in variables, escaped and cut, one event each.
      let log = { (try? SmallFile.read(box.directory.path + "/log", limit: 1 << 20)) ?? [] }
      try await eventually("the events") {
        log().split(separator: 0).count { $0.elementsEqual("end".utf8) } >= 2
      }
      let variables = log().split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      #expect(
        variables.filter { $0.hasPrefix("ACCESSORY_EVENT=") }.sorted() == [
          "ACCESSORY_EVENT=battery_low", "ACCESSORY_EVENT=connected",
        ])
      for variable in variables where variable.hasPrefix("ACCESSORY_") {
        #expect(dangers(variable) == [] && !variable.contains("\n") && variable.utf8.count < 3_000)
      }
      for program in [watch, documents] {
        #expect(dangers(program.transcript.value.outputText) == [])
        #expect(program.transcript.value.lines.count == 1)
      }
      // Each line of the log is the service's own.
      let lines = service.transcript.value.errorText.split(separator: "\n")
      #expect(dangers(service.transcript.value.errorText) == [])
      #expect(lines.allSatisfy { $0.dropFirst(2).first == ":" && $0.dropFirst(5).first == ":" }, "\(lines)")
      #expect(lines.allSatisfy { $0.utf8.count < 2_000 })
      // And nothing became a file, also not in the folder of the history.
      #expect(box.directory.names().filter { $0 != "state" }.sorted() == ["log", "on-event"])
      #expect(Directory.names(in: box.directory.path + "/state").allSatisfy { $0 == "accessory-bridge" })
      #expect(!exists("/evil") && !exists(box.runtime.path + "/evil"))
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
    await terminal.transport.close()
  }

  /// An announcement that is no UTF-8, or too long, is nobody's.
  @Test func invalidAnnouncementsAreIgnored() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let head = Array(#"{"path":"/dev/pts/0","driver":"framed","serial":""#.utf8)
      let files = [
        head + [0xFF, 0xFE] + Array(#""}"#.utf8), head + [UInt8](repeating: 0x61, count: 20_000) + Array(#""}"#.utf8),
      ]
      var locks: [CInt] = []
      defer { locks.forEach { close($0) } }
      for (index, bytes) in files.enumerated() {
        try box.runtime.write(bytes, to: ".device")
        let descriptor = open(box.runtime.path + "/.device", O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        locks.append(descriptor)
        let name = "/accessory-bridge/simulated/device\(index).json"
        try #require(rename(box.runtime.path + "/.device", box.runtime.path + name) == 0)
      }
      // One that is whole comes behind them.
      _ = try await box.simulate()
      try await service.errors(containing: "SIM0001 is attached at")
      let client = try await ControlClient.connect(to: box.socket)
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.id) == ["SIM0001"])
    }
  }
}
