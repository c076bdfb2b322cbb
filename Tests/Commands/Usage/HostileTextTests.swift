// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Text that an accessory chose reaches neither a terminal nor a log raw.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct HostileTextTests {
  static let texts = [
    "\u{1B}[31mred\u{1B}[0m\u{7}", "two\nlines\r\ttab", "\u{202E}reversed\u{2066}isolated\u{200F}", "\u{9B}2J\u{85}",
    "bell\u{7F}\u{2028}\u{2029}", "zero\u{200B}width\u{FEFF}\u{E0041}", "\u{34F}hidden\u{115F}\u{3164}\u{FFA0}\u{180B}",
    "\"quoted\" \\ {}",
    String(repeating: "n", count: 256), String(repeating: "e\u{301}", count: 85),
    // One character of many marks, which tables must not take for short.
    "a" + String(repeating: "\u{301}", count: 120),
  ]

  /// Bytes that would make a terminal do something, and scalars that hide or reorder what stands beside them.
  private func dangers(_ bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { scalar in
      if scalar == "\n" { return false }
      return scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x200B...0x200F).contains(scalar.value)
        || [0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0].contains(scalar.value) || (0x180B...0x180F).contains(scalar.value)
        || (0x2028...0x202E).contains(scalar.value) || (0x2060...0x206F).contains(scalar.value)
        || scalar.value == 0xFEFF || scalar.value == 0x061C || scalar.value == 0xFFFD || scalar.value >= 0xE0000
    }.map { String($0.value, radix: 16) }
  }

  @Test(arguments: texts) func hostileNamesAreEscapedInEveryOutput(text: String) async throws {
    try await Sandbox.with { box in
      let watch = try box.start("watch")
      let watchDocuments = try box.start("watch", "--json")
      let simulator = try await box.simulate(
        "--name", text, "--manufacturer", text, "--model", text, "--firmware", text, "--serial", text)
      _ = try await watch.lines(1)
      _ = try await watchDocuments.lines(1)
      for command in ["list", "info", "status", "battery"] {
        let ended = try await box.run(command)
        #expect(ended.status == 0)
        #expect(dangers(ended.output) == [], "\(command)")
        let document = try await box.run(command, "--json")
        #expect(dangers(document.output) == [], "\(command) --json")
        // Escaped, not changed: who reads it gets what the accessory said.
        let device = command == "list" ? try document.json()["devices"]?[0] : try document.json()["device"]
        #expect(device?["name"] == .string(text))
        #expect(device?["serial"] == .string(text))
      }
      let list = try await box.run("list")
      #expect(list.lines.count == 2)
      #expect(list.lines.allSatisfy { $0.unicodeScalars.count < 220 })
      #expect(try await box.run("status").lines.count == 8)
      let (seen, documents) = (watch.transcript.value, watchDocuments.transcript.value)
      #expect(seen.lines.count == 1)
      #expect(dangers(seen.output) + dangers(documents.output) == [])
      #expect(dangers(simulator.program.transcript.value.output) == [])
    }
  }

  /// Errors name the device by its serial number, too.
  @Test func errorsNameHostileSerialNumbersEscaped() async throws {
    try await Sandbox.with { box in
      for _ in 0..<2 { _ = try await box.simulate("--serial", "\u{1B}[2J\u{202E}X") }
      let status = try await box.run("status")
      #expect(status.status == EX_USAGE)
      #expect(dangers(status.errors) == [])
      #expect(dangers(try await box.run("battery").output) == [])
      #expect(dangers(try await box.run("battery", "--json").output) == [])
    }
  }

  /// An announcement is a file, and whoever runs as this user can write anything there.
  @Test func announcementsOfOthersAreShownEscaped() async throws {
    try await Sandbox.with { box in
      #expect(try await box.run("list").status == 0)
      let files: [(name: String, bytes: [UInt8])] = [
        (
          "latin.json",
          Array(#"{"path":"/dev/pts/0","driver":"framed","name":""#.utf8) + [0xE9, 0x9B] + Array(#""}"#.utf8)
        ),
        ("path.json", Array(#"{"path":"/dev/\u001b[31m\nx","driver":"\u202eframed"}"#.utf8)),
        ("empty.json", []), ("cut.json", Array(#"{"path":"/dev/p"#.utf8)), ("list.json", Array("[[[[".utf8)),
        ("types.json", Array(#"{"path":7,"driver":null}"#.utf8)),
      ]
      var locks: [CInt] = []
      defer { locks.forEach { close($0) } }
      for file in files {
        let name = "accessory-bridge/simulated/" + file.name
        try box.runtime.write(file.bytes, to: name)
        // Only what somebody holds is looked at.
        let descriptor = open(box.runtime.path + "/" + name, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        locks.append(descriptor)
      }
      for arguments in [["list"], ["list", "--json"]] {
        let list = try await box.run(arguments)
        #expect(list.status == 0)
        #expect(dangers(list.output) + dangers(list.errors) == [])
        #expect(list.outputText.contains("/dev/"))
      }
      let watch = try box.start("watch")
      _ = try await watch.lines(1)
      #expect(dangers(watch.transcript.value.output) == [])
    }
  }
}
