// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers
@testable import AccessoryProtocols

/// Descriptions held against recordings.
@Suite struct RecordingCheckTests {
  private static let text = """
    protocol: lamp
    version: 1
    framings:
      frame:
        layout:
          - start: AA
          - command: u8
          - length: {type: u8, of: data}
          - data
          - check: {algorithm: sum8, over: command..data}
    messages:
      state:
        when: {command: 0x81}
        fields: [{name: light, type: u8}]
    requests:
      state: {send: frame, with: {command: 1}, reply: state}
    """

  private func check(_ records: [(Int, ByteDirection, String)]) throws -> RecordingCheck {
    var check = try RecordingCheck(try DescriptionReader.read(Array(Self.text.utf8), file: "lamp.yaml").description)
    check.begin(silence: .milliseconds(50))
    for (time, direction, bytes) in records {
      check.add(
        TraceRecord(time: .milliseconds(time), direction: direction, bytes: try #require(Hexadecimal.bytes(bytes))))
    }
    check.finish()
    return check
  }

  private static let reply = "aa810107" + "89"

  @Test func aRecordingThatFitsHasNoFinds() throws {
    let check = try check([(1, .toDevice, "aa010001"), (2, .fromDevice, Self.reply), (3, .fromDevice, Self.reply)])
    #expect(check.fits && check.unframedRuns.isEmpty && check.unknownFrames.isEmpty)
    #expect(check.counts == [.toDevice: ["state": 1], .fromDevice: ["state": 2]])
    #expect(check.byteCounts == [.toDevice: 4, .fromDevice: 10])
  }

  /// Noise is told by its place and its time, and frames behind it count; a damaged frame is noise.
  @Test func noiseInARecordingIsFound() throws {
    let check = try check([
      (1, .fromDevice, Self.reply + "0102"), (2, .fromDevice, "03" + Self.reply), (9, .fromDevice, "aa81010788"),
      (10, .fromDevice, Self.reply + "aa81"),
    ])
    #expect(check.counts == [.fromDevice: ["state": 3]])
    #expect(!check.fits && check.unframedByteCount == 10)
    try #require(check.unframedRuns.count == 3)
    #expect(
      check.unframedRuns[0]
        == .init(direction: .fromDevice, offset: 5, time: .milliseconds(1), bytes: [1, 2, 3], byteCount: 3))
    #expect(check.unframedRuns[1].offset == 13 && check.unframedRuns[1].time == .milliseconds(9))
    #expect(check.unframedRuns[1].bytes == [0xAA, 0x81, 1, 7, 0x88] && check.unframedRuns[1].byteCount == 5)
    // What was cut off by the end.
    #expect(check.unframedRuns[2].offset == 23 && check.unframedRuns[2].bytes == [0xAA, 0x81])
  }

  /// Frames that are whole and that nobody describes are told once for each kind.
  @Test func unknownFramesAreReportedOnceForEachKind() throws {
    let check = try check([
      (1, .toDevice, "aa020002"), (2, .fromDevice, "aa82010083"), (3, .fromDevice, "aa82010184"),
      (4, .fromDevice, "aa83010084"),
    ])
    #expect(check.unframedRuns.isEmpty && check.unknownFrameCount == 4 && !check.fits)
    #expect(check.unknownFrames.map(\.count) == [1, 2, 1])
    #expect(
      check.unknownFrames[1].bytes == [0xAA, 0x82, 1, 0, 0x83] && check.unknownFrames[1].time == .milliseconds(2))
  }

  /// A recording of nothing but noise costs a bounded number of finds.
  @Test func aCheckKeepsABoundedNumberOfFinds() throws {
    var records: [(Int, ByteDirection, String)] = []
    for index in 0..<300 { records.append((index, .fromDevice, "55" + Self.reply)) }
    let check = try check(records)
    #expect(check.unframedRuns.count == RecordingCheck.findLimit && check.unframedByteCount == 300)
    #expect(check.counts[.fromDevice] == ["state": 300])
    let description = try DescriptionReader.read(Array(Self.text.utf8), file: "lamp.yaml").description
    var long = try RecordingCheck(description, limit: 4_096)
    long.begin(silence: .milliseconds(50))
    for index in 0..<5 {
      let bytes = [UInt8](repeating: 0, count: 1_024)
      long.add(TraceRecord(time: .milliseconds(index), direction: .fromDevice, bytes: bytes))
    }
    long.finish()
    #expect(long.isCut && long.unframedByteCount == 4_096 && long.unframedRuns.count == 1)
  }

  /// What is proposed for the frames of a description that ships reads them.
  @Test func aProposalIsADescription() throws {
    for name in ["jbd", "daly", "vesc"] {
      let described = try #require(DescriptionLibrary.builtIn.described(name)).description
      let frames = described.examples.filter { !$0.isRefused && !$0.received.isEmpty }.map(\.received)
      let proposal = try #require(FramingProposal(pieces: frames), "\(name)")
      let read = try DescriptionReader.read(Array(proposal.text(name: "mine").utf8), file: "mine.yaml")
      #expect(DescriptionCheck.problems(in: read, file: "mine.yaml") == [], "\(name)")
    }
  }
}
