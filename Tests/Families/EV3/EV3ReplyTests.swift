// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyEV3
import TestSupport
import Testing

/// Replies byte by byte, and system commands with theirs.
@Suite struct EV3ReplyTests {
  private func reply(_ wire: String, to batch: EV3Batch) throws -> EV3BatchReply {
    let message = try EV3VectorTests.message(EV3VectorTests.bytes(wire))
    #expect(message.type == .directReply)
    #expect(try message.encoded() == EV3VectorTests.bytes(wire))
    return try EV3BatchReply(decoding: message.body, of: batch)
  }

  @Test func aReplyToNothingHasNoGlobals() throws {
    var batch = EV3Batch()
    try batch.add(.nothing)
    for counter in ["2A", "2B"] { #expect(try reply("03 00 \(counter) 00 02", to: batch).globals == []) }
  }

  @Test func theBatterysVoltageCurrentAndPercentAreRead() throws {
    var batch = EV3Batch()
    let (volts, amperes) = (try batch.add(.batteryVoltage), try batch.add(.batteryCurrent))
    let percent = try batch.add(.batteryPercent)
    let reply = try reply("0C 00 2A 00 02 7C 03 F1 40 40 07 3B 3E 64", to: batch)
    #expect(abs(reply[volts] - 7.5317) < 0.0001)
    #expect(abs(reply[amperes] - 0.18264) < 0.00001)
    #expect(reply[percent] == 100)
    var one = EV3Batch()
    let place = try one.add(.batteryPercent)
    #expect(try self.reply("04 00 2A 00 02 64", to: one)[place] == 100)
  }

  @Test func sensorsTypesModesAndValuesAreRead() throws {
    var batch = EV3Batch()
    let places = try EV3Port.allCases.prefix(4).map { try batch.add(.typeAndMode($0)) }
    let answer = try reply("0B 00 2A 00 02 10 00 1D 00 21 00 7E 00", to: batch)
    #expect(places.map { answer[$0].type } == [.touch, .color, .infrared, .none])
    #expect(places.map { answer[$0].mode } == [0, 0, 0, 0])
    var touch = EV3Batch()
    let value = try touch.add(.readySI(.one, type: 16, mode: 0))
    #expect(try reply("07 00 2A 00 02 00 00 80 3F", to: touch)[value] == [1])
    #expect(try reply("07 00 2A 00 02 00 00 C0 7F", to: touch)[value] == [nil], "not a number")
    var percent = EV3Batch()
    let share = try percent.add(.percentValue(.one))
    #expect(try reply("04 00 AB AB 02 07", to: percent)[share] == 7)
    #expect(try reply("04 00 AB AB 02 80", to: percent)[share] == nil, "not a number")
    var eight = EV3Batch()
    let values = try eight.add(.readyRaw(.three, type: 33, mode: 1, count: 8))
    let bytes = (0..<8).map { $0 == 7 ? "00 00 00 80" : "0\($0) 00 00 00" }.joined(separator: " ")
    #expect(try reply("23 00 2A 00 02 " + bytes, to: eight)[values] == [0, 1, 2, 3, 4, 5, 6, nil])
  }

  @Test func aReplySaysWhetherAMotorIsBusy() throws {
    var batch = EV3Batch()
    let busy = try batch.add(.areBusy(.b))
    #expect(try reply("04 00 2E 00 02 01", to: batch)[busy])
    #expect(try !reply("04 00 2E 00 02 00", to: batch)[busy])
  }

  /// Texts end at their first zero byte.
  @Test func aTextEndsAtItsFirstZeroByte() throws {
    var batch = EV3Batch()
    let version = try batch.add(.firmwareVersion)
    let wire = "13 00 2A 00 02 56 31 2E 30 39 48" + String(repeating: " 00", count: 10)
    #expect(try reply(wire, to: batch)[version] == "V1.09H")
    let full = "13 00 2A 00 02" + String(repeating: " 56", count: 16)
    #expect(try reply(full, to: batch)[version] == String(repeating: "V", count: 16))
  }

  @Test func theCountOfAFoldersFilesIsRead() throws {
    var batch = EV3Batch()
    let count = try batch.add(.folderCount("/"))
    #expect(try reply("05 00 2A 00 02 10 00", to: batch)[count] == 16)
    let error = #expect(throws: EV3MessageError.self) { try EV3BatchReply(decoding: [], of: batch) }
    #expect(error == .tooShort(byteCount: 0, minimum: 1))
  }

  @Test func anErrorsReplyIsReadAsAnError() throws {
    let message = try EV3VectorTests.message(hex("03 00 CC CC 04"))
    #expect(message == EV3Message(number: 0xCCCC, type: .directError, body: []))
  }

  // MARK: - System commands

  struct System: Sendable, CustomTestStringConvertible {
    var wire: String
    var command: EV3SystemCommand
    var testDescription: String { "\(command)" }
  }

  static let system = [
    System(
      wire: """
        1E 00 2A 00 01 99 F4 03 2F 68 6F 6D 65 2F 72 6F 6F 74 2F 6C 6D 73 32 30 31 32 2F 73 79 73 2F 00
        """, command: .listFiles(maximum: 1_012, path: "/home/root/lms2012/sys/")),
    System(wire: "07 00 2B 00 01 9A 00 F4 03", command: .continueListFiles(handle: 0, maximum: 1_012)),
    System(
      wire: "1C 00 2A 00 01 92 E8 03 00 00 2E 2E 2F 61 70 70 73 2F 74 73 74 2F 74 73 74 2E 72 62 66 00",
      command: .beginDownload(size: 1_000, path: "../apps/tst/tst.rbf")),
    System(wire: "08 00 2B 00 01 93 00 01 02 03", command: .continueDownload(handle: 0, data: [1, 2, 3])),
    System(wire: "05 00 2C 00 01 98 00", command: .closeHandle(0)),
    System(wire: "0E 00 2D 00 01 9B 2E 2E 2F 70 72 6A 73 2F 78 00", command: .makeFolder("../prjs/x")),
    System(wire: "0E 00 2D 00 01 9C 2E 2E 2F 70 72 6A 73 2F 78 00", command: .delete("../prjs/x")),
    System(wire: "0A 00 2A 00 01 94 F4 03 61 2F 62 00", command: .beginUpload(maximum: 1_012, path: "a/b")),
    System(wire: "07 00 2A 00 01 95 03 F4 03", command: .continueUpload(handle: 3, maximum: 1_012)),
    System(wire: "0A 00 2A 00 01 96 F4 03 61 2F 62 00", command: .beginGetFile(maximum: 1_012, path: "a/b")),
    System(wire: "07 00 2A 00 01 97 03 F4 03", command: .continueGetFile(handle: 3, maximum: 1_012)),
    System(wire: "04 00 2A 00 01 9D", command: .listOpenHandles),
    System(
      wire: "0D 00 2A 00 81 9E 04 61 62 63 00 02 00 01 02",
      command: .writeMailbox(name: "abc", payload: [1, 2])),
    System(wire: "04 00 2A 00 81 A0", command: .enterFirmwareUpdate),
    System(wire: "06 00 2A 00 01 A1 61 00", command: .setBundleID("a")),
    System(wire: "06 00 2A 00 01 A2 61 00", command: .setBundleSeedID("a")),
  ]

  @Test(arguments: system) func systemCommandsAreTheBytesOfTheirVectors(vector: System) throws {
    let wire = hex(vector.wire)
    let message = try EV3VectorTests.message(wire)
    #expect(try EV3SystemCommand(decoding: message.body) == vector.command)
    #expect(try vector.command.message(message.number).encoded() == wire)
  }

  @Test func systemRepliesAreReadAndWrittenTheSame() throws {
    func reply(_ wire: String) throws -> EV3SystemReply {
      let message = try EV3VectorTests.message(EV3VectorTests.bytes(wire))
      let reply = try EV3SystemReply(decoding: message.body)
      #expect(try reply.message(message.number).encoded() == EV3VectorTests.bytes(wire))
      return reply
    }
    let listing = try reply("14 00 2A 00 03 99 08 0A 00 00 00 00 73 65 74 74 69 6E 67 73 2F 0A")
    #expect(listing.status == .endOfFile)
    #expect(try listing.beginning().size == 10)
    #expect(try EV3FolderEntry.entries(in: listing.beginning().data) == [.folder(name: "settings")])
    let download = try reply("06 00 xx xx 03 92 00 07")
    #expect(try download.piece().handle == 7)
    #expect(try reply("05 00 2C 00 03 98 00").data == [], "as LEGO's example has it")
    #expect(try reply("06 00 2C 00 03 98 00 01").data == [1], "as the firmware has it")
    #expect(try reply("05 00 2A 00 05 94 06").status == .illegalPath)
    let handles = EV3SystemReply(code: 0x9D, status: .success, data: [0b101, 0, 1])
    #expect(handles.openHandles == [0, 2, 16])
  }

  @Test func repliesThatAreTooShortAreRefused() throws {
    for body in [[], [0x94]] as [[UInt8]] {
      #expect(throws: EV3MessageError.self) { try EV3SystemReply(decoding: body) }
    }
    let short = EV3SystemReply(code: 0x94, status: .success, data: [1, 0, 0, 0])
    #expect(throws: EV3MessageError.self) { try short.beginning() }
    #expect(throws: EV3MessageError.self) { try EV3SystemReply(code: 0x95, status: .success).piece() }
    for payload in [[], [1], [1, 2]] as [[UInt8]] {
      #expect(throws: EV3MessageError.self) { try EV3Message(decoding: payload) }
    }
  }

  @Test func aFoldersListingIsReadLineByLine() throws {
    let sum = "0123456789ABCDEF0123456789abcdef"
    let entries = try EV3FolderEntry.entries(in: Array("../\n\(sum) 0000001F a b.rbf\n./\n".utf8))
    #expect(
      entries == [
        .folder(name: ".."), .file(name: "a b.rbf", size: 31, md5: sum.lowercased()), .folder(name: "."),
      ])
    #expect(entries.map(\.line).joined() == "../\n\(sum.uppercased()) 0000001F a b.rbf\n./\n")
    for bad in ["x", "/", "\(sum) 1F a", "\(sum) 0000001F ", "\(sum.dropFirst()) 0000001F a", "\(sum) 0000001G a"] {
      #expect(throws: EV3MessageError.malformedListing) { try EV3FolderEntry.entries(in: Array(bad.utf8)) }
    }
  }

  @Test func md5SumsAreAsPublished() {
    #expect(MD5.hexadecimal([]) == "d41d8cd98f00b204e9800998ecf8427e")
    #expect(MD5.hexadecimal("abc".utf8) == "900150983cd24fb0d6963f7d28e17f72")
    let digits = String(repeating: "1234567890", count: 8)
    #expect(MD5.hexadecimal(digits.utf8) == "57edf4a22be3c955ac49da2e2107b67a")
    #expect(MD5.hexadecimal([UInt8](repeating: 97, count: 1_000_000)) == "7707d6ae4e027c70eea2a935c2296f21")
  }
}
