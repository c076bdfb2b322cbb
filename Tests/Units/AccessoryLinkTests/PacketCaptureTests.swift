// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryLink

/// Captures, byte by byte.
struct PacketCaptureTests {
  private let began = Duration.seconds(1_795_337_583)

  /// Bytes in hexadecimal, with blanks between them.
  private func bytes(_ text: String) throws -> [UInt8] {
    try #require(Hexadecimal.bytes(text.filter { !$0.isWhitespace }))
  }

  private func begun() -> PacketCapture {
    var capture = PacketCapture()
    _ = capture.begin(name: "x", framing: .none, began: began)
    return capture
  }

  @Test func theSectionHeaderNamesTheProgram() throws {
    let expected = try bytes(
      """
      0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff
      0400 0500 70312e3200 000000
      0000 0000 2c000000
      """)
    #expect(PacketCapture.header(program: "p1.2\0") == expected)
  }

  @Test func anInterfaceIsATrace() throws {
    var capture = PacketCapture()
    let expected = try bytes(
      """
      01000000 38000000 fa00 0000 00000000
      0200 0300 616363 00
      0300 0a00 6672616d6573206a6264 0000
      0900 0100 09 000000
      0000 0000 38000000
      """)
    #expect(capture.begin(name: "acc", framing: .driver("jbd"), began: began) == expected)
    let long = capture.begin(name: "a" + String(repeating: "ä", count: 600), framing: .none, began: began)
    #expect(long[18] == 0xE7 && long[19] == 3, "999 bytes, and no half of a character")
  }

  @Test func packetsHaveTimeDirectionAndTheHeaderOfTheLinkType() throws {
    let capture = begun()
    let time = Duration.nanoseconds(1_500_000_789)
    let nanoseconds = UInt64(1_795_337_584) * 1_000_000_000 + 500_000_789
    var expected = try bytes("06000000 3c000000 00000000")
    for word in [UInt32(truncatingIfNeeded: nanoseconds >> 32), UInt32(truncatingIfNeeded: nanoseconds)] {
      for shift in [0, 8, 16, 24] { expected.append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
    }
    expected += try bytes(
      """
      0f000000 0f000000
      6b02ad70 0007a120 02 00 0000 414243 00
      0200 0400 01000000
      0000 0000 3c000000
      """)
    let received = capture.packets(TraceRecord(time: time, direction: .fromDevice, bytes: [0x41, 0x42, 0x43]))
    #expect(received == expected)
    let sent = capture.packets(TraceRecord(time: time, direction: .toDevice, bytes: [0x41, 0x42, 0x43]))
    #expect(sent.count == expected.count && sent[36] == 1 && sent[48] == 2)
    #expect(sent.indices.filter { sent[$0] != received[$0] } == [36, 48])
  }

  @Test func whatIsNotBytesIsSaidInAComment() throws {
    let capture = begun()
    let lost = capture.packets(TraceRecord(time: .zero, direction: .fromDevice, bytes: [7], lostBytes: 42))
    let first = Int(lost[4])
    #expect(lost[36] == 5 && lost[20] == 12, "data lost, without bytes")
    #expect(
      String(decoding: lost[44..<first], as: UTF8.self).hasPrefix("42 bytes are missing here: they came too fast"))
    #expect(lost[first + 36] == 2 && lost[first + 20] == 13)
    let gone = capture.plug(false, at: .seconds(1))
    #expect(gone[36] == 0 && String(decoding: gone, as: UTF8.self).contains("the accessory was unplugged"))
    #expect(String(decoding: capture.plug(true, at: .zero), as: UTF8.self).contains("plugged in again"))
  }

  @Test func eachTraceHasItsOwnTimeAndInterface() {
    var capture = begun()
    _ = capture.begin(name: "y", framing: .unnamed, began: .zero)
    let packet = capture.packets(TraceRecord(time: .nanoseconds(258), direction: .toDevice, bytes: [1]))
    #expect(Array(packet[8..<20]) == [1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0])
  }

  @Test func muchAtOnceBecomesSeveralPackets() {
    let record = TraceRecord(
      time: .zero, direction: .fromDevice, bytes: [UInt8](repeating: 7, count: PacketCapture.pieceLimit + 1))
    let packets = begun().packets(record)
    var place = 0
    var lengths: [Int] = []
    while place < packets.count {
      let length = packets[(place + 4)..<(place + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
      #expect(length.isMultiple(of: 4) && packets[place] == 6)
      #expect(Array(packets[(place + 4)..<(place + 8)]) == Array(packets[(place + length - 4)..<(place + length)]))
      lengths.append(packets[(place + 20)..<(place + 24)].reversed().reduce(0) { $0 << 8 | Int($1) })
      place += length
    }
    #expect(lengths == [PacketCapture.pieceLimit + 12, 13])
  }
}
