// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `trace --pcapng`, and recordings of a bridge. What Wireshark makes of captures is `make wireshark`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct CaptureTests {
  private func bytes(_ box: Sandbox, _ name: String) throws -> [UInt8] {
    try SmallFile.read("\(box.directory.path)/\(name)", limit: 1 << 20)
  }

  /// The types of the blocks of a capture, each of which has its length at its beginning and at its end.
  private func blocks(_ bytes: [UInt8]) -> [UInt32] {
    func word(_ place: Int) -> UInt32 {
      bytes[place..<(place + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
    var types: [UInt32] = []
    var place = 0
    while place + 12 <= bytes.count {
      let length = Int(word(place + 4))
      guard length >= 12, length.isMultiple(of: 4), place + length <= bytes.count, word(place + length - 4) == length
      else { break }
      types.append(word(place))
      place += length
    }
    #expect(place == bytes.count, "whole blocks")
    return types
  }

  @Test func aRecordingBecomesACapture() async throws {
    try await Sandbox.with { box in
      let text = """
        #accessory-bridge-recording 1 silence 0.050000000 frames none
        #began 1795337583.000000000
        0.000000001 > 0102
        0.100000000 < 03
        #unplugged 0.200000000
        #accessory-bridge-recording 1 silence 0.050000000 frames jbd
        #lost 0.300000000 7
        0.300000000 < 04

        """
      try box.directory.write(Array(text.utf8), to: "it.trace")
      let shown = try await box.run("trace", "it.trace")
      let trace = try await box.run("trace", "it.trace", "--pcapng", "it.pcapng")
      #expect(trace.status == 0 && trace.outputText == shown.outputText)
      let header: UInt32 = 0x0A0D_0D0A
      let capture = try bytes(box, "it.pcapng")
      #expect(blocks(capture) == [header, 1, 6, 6, 6, 1, 6, 6])
      // On standard output there is nothing else, and an older capture is replaced.
      let output = try await box.run("trace", "it.trace", "--pcapng", "-")
      #expect(output.status == 0 && output.output == capture)
      try box.directory.write(Array("#accessory-bridge-recording 1 silence 0.050000000\n".utf8), to: "empty.trace")
      #expect(try await box.run("trace", "empty.trace", "--pcapng", "it.pcapng").status == 0)
      #expect(try blocks(bytes(box, "it.pcapng")) == [header])
      // What is no capture is left alone.
      let refused = try await box.run("trace", "it.trace", "--pcapng", "empty.trace")
      #expect(refused.status == EX_CANTCREAT && refused.errorText.contains("exists and is not a capture"))
      #expect(try await box.run("trace", "it.trace", "--pcapng", "-", "--json").status == EX_USAGE)
    }
  }

  @Test func aLiveCaptureGoesOnWhenTheAccessoryIsBack() async throws {
    try await Sandbox.with { box in
      var simulator = try await box.simulate("--serial", "A1")
      let trace = try box.start("trace", "A1", "--ask", "--pcapng", "it.pcapng", "--record", "it.trace")
      _ = try await trace.lines(4)
      try await simulator.stop()
      try await trace.errors(containing: "is gone")
      let before = trace.transcript.value.lines.count
      simulator = try await box.simulate("--serial", "A1")
      try await trace.errors(containing: "is back")
      try await trace.line(from: before) { $0.contains("reply BATTERY") }
      trace.signal(SIGINT)
      #expect(try await trace.end().status == 0)
      let types = try blocks(bytes(box, "it.pcapng"))
      #expect(types.first == 0x0A0D_0D0A && types.count { $0 == 1 } == 2)
      let recorded = String(decoding: try bytes(box, "it.trace"), as: UTF8.self)
      #expect(
        recorded.contains("\n#unplugged ") && types.count { $0 == 6 } == recorded.split(separator: "\n").count - 4)
    }
  }

  /// Also what passes by the service that has the accessory.
  @Test func aBridgeThroughTheServiceIsRecorded() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A1", "--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      let bridge = try box.start("bridge", "A1", "--pty", "tty", "--record", "it.trace")
      try await bridge.errors(containing: "is open")
      let battery = try await box.run("battery", "./tty", "--driver", "framed")
      #expect(battery.status == 0, "\(battery.errorText)")
      bridge.signal(SIGINT)
      #expect(try await bridge.end().status == 0)
      let trace = try await box.run("trace", "it.trace")
      #expect(trace.lines.contains { $0.contains("reply BATTERY") && $0.contains("57 %") }, "\(trace.outputText)")
    }
  }

  @Test func aRecordingThatCanNotBeWrittenIsToldAndTheBridgeGoesOn() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let bridge = try box.start("bridge", "./acc", "--pty", "tty", "--record", "/etc/passwd")
      try await bridge.errors(containing: "exists and is not a recording")
      #expect(try await box.run("battery", "./tty", "--driver", "framed").status == 0)
      bridge.signal(SIGINT)
      #expect(try await bridge.end().status == EX_CANTCREAT)
    }
  }
}
