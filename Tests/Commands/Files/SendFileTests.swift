// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// Files for AF1 accessories, with the simulator as a process of its own.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct SendFileTests {
  private static let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
  private static let sum = Hexadecimal.string(CRC32.checksum(of: bytes.span.bytes, .crc32ISOHDLC))

  @Test func aSentFileArrives() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      try box.directory.write(Self.bytes, to: "new.bin")
      let sent = try await box.run("send-file", "./acc", "new.bin", "--kind", "firmware")
      #expect(sent.status == 0 && sent.errorText == "")
      #expect(sent.lines == ["new.bin: 100000 bytes, CRC-32 \(Self.sum)"])
      try await accessory.program.line(containing: "stored new.bin: 100000 bytes, CRC-32 \(Self.sum)")
      #expect(try await box.run("send-file", "SIM0001", "./new.bin", "its name").status == 0)
      try await accessory.program.line(containing: "stored its name: 100000 bytes")
      try await accessory.stop()
    }
  }

  @Test func aSentFileIsReportedInDocuments() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc", "--window", "4")
      try box.directory.write(Self.bytes, to: "new.bin")
      let sent = try await box.run("send-file", "./acc", "new.bin", "--kind", "image", "--json")
      #expect(sent.status == 0)
      let progress = try sent.lines.dropLast().map { try JSON($0)["progress"] }
      let percents = progress.compactMap { progress -> Double? in
        if case .number(let percent)? = progress?["percent"] { percent } else { nil }
      }
      #expect(percents.count == progress.count && percents.count > 10)
      #expect(percents.first == 0 && percents.last == 100 && percents == percents.sorted())
      #expect(progress.last??["done_bytes"] == 100_000 && progress.last??["size_bytes"] == 100_000)
      let result = try sent.lastJSON()
      #expect(result["crc32"]?.text == Self.sum && result["kind"] == "image" && result["path"] == "new.bin")
      #expect(result["size_bytes"] == 100_000 && result["resumptions"] == 0 && result["md5"] == .null)
      #expect(result["device"]?["serial"] == "SIM0001")
      try await accessory.stop()
    }
  }

  /// Pulled out twice and plugged in again, over a line that loses and damages.
  @Test func anInterruptedFileIsSentOn() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate(
        "--largest-payload", "1028", "--window", "16", "--unplug-after", "45", "--replug-after", "20ms", "--drop",
        "0.01",
        "--corrupt", "0.01", "--drop-requests", "0.01", "--corrupt-requests", "0.01", "--seed", "3")
      try box.directory.write(Self.bytes, to: "new.bin")
      let sent = try await box.run("send-file", "SIM0001", "new.bin", "--patience", "60s", "--json")
      #expect(sent.status == 0, "\(sent.errorText)")
      #expect(sent.errorText.contains("SIM0001 is gone: waiting for it to come back"))
      if case .number(let count)? = try sent.lastJSON()["resumptions"] { #expect(count >= 2) } else { Issue.record() }
      try await accessory.program.line(containing: "stored new.bin: 100000 bytes, CRC-32 \(Self.sum)")
      try await accessory.stop()
    }
  }

  /// `--wait` is for an accessory that hasn't come yet; after an unplug `--patience` counts.
  @Test(arguments: [[], ["--wait", "60s"]]) func sendFileWithoutPatienceEndsAtAnUnplug(wait: [String]) async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc", "--unplug-after", "10")
      try box.directory.write(Self.bytes, to: "new.bin")
      let sent = try await box.run(["send-file", "./acc", "new.bin", "--patience", "0s", "--json"] + wait)
      #expect(sent.status == 69)
      #expect(try sent.lastJSON()["error"]?["kind"] == "disconnected")
      try await accessory.program.end()
    }
  }

  /// The accessory forgets the file as well.
  @Test(arguments: [SIGINT, SIGTERM]) func aSignalAbortsTheFileOnTheAccessoryToo(by signal: CInt) async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc", "--delay", "100ms")
      try box.directory.write([UInt8](repeating: 7, count: 4_000_000), to: "new.bin")
      let sending = try box.start("send-file", "./acc", "new.bin", "--json")
      try await sending.line { $0.contains("\"percent\":1") }
      sending.signal(signal)
      #expect(try await sending.end().status == 128 + signal)
      try await accessory.program.line(containing: "aborted new.bin at ")
      #expect(try await box.run("battery", "./acc").status == 0)
      try await accessory.stop()
    }
  }

  /// The service carries it, over unplugs too.
  @Test func theServiceSendsAFileOverUnplugs() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let accessory = try await box.simulate(
        "--link", "./acc", "--window", "4", "--unplug-after", "20", "--replug-after", "20ms")
      try await service.errors(containing: "SIM0001 is attached at")
      try box.directory.write(Self.bytes, to: "new.bin")
      let sent = try await box.run(
        "send-file", "SIM0001", "new.bin", "--kind", "firmware", "--patience", "60s", "--json")
      #expect(sent.status == 0, "\(sent.errorText)")
      let result = try sent.lastJSON()
      #expect(result["crc32"]?.text == Self.sum && result["kind"] == "firmware")
      // More than once, where a busy machine had requests repeated.
      if case .number(let count)? = result["resumptions"] { #expect(count >= 1) } else { Issue.record() }
      #expect(sent.errorText.contains("SIM0001 is gone: waiting for it to come back"))
      try await accessory.program.line(containing: "stored new.bin: 100000 bytes, CRC-32 \(Self.sum)")
      try await accessory.stop()
    }
  }

  /// Ctrl-C has the accessory forget the file, though another process speaks with it.
  @Test func ctrlCAbortsAFileSentByTheService() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let accessory = try await box.simulate("--link", "./acc", "--delay", "100ms")
      try await service.errors(containing: "SIM0001 is attached at")
      try box.directory.write([UInt8](repeating: 7, count: 4_000_000), to: "new.bin")
      let sending = try box.start("send-file", "SIM0001", "new.bin", "--json")
      try await sending.line { $0.contains("\"percent\":1") }
      sending.signal(SIGINT)
      #expect(try await sending.end().status == 130)
      try await accessory.program.line(containing: "aborted new.bin at ")
      try await accessory.stop()
    }
  }

  @Test func wrongUseOfSendFileIsAnError() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      try box.directory.write(Self.bytes, to: "new.bin")
      func failure(_ arguments: String...) async throws -> (status: CInt?, text: String) {
        let ended = try await box.run(["send-file"] + arguments)
        return (ended.status, ended.errorText)
      }
      #expect(try await failure("./acc").status == 64)
      #expect(try await failure("./acc", "new.bin", "--kind", "song").status == 64)
      #expect(try await failure("./acc", "new.bin", "").status == 64)
      let missing = try await failure("./acc", "none.bin")
      #expect(missing.status == 66 && missing.text.contains("opening none.bin: no such file"))
      let folder = try await failure("./acc", ".")
      #expect(folder.status == 69 && folder.text.contains("is not a regular file"))
      let name = try await failure("./acc", "new.bin", String(repeating: "x", count: 257))
      #expect(name.status == 78)
      #expect(try await failure("./other", "new.bin").status == 66)
      try await accessory.stop()
    }
  }
}
