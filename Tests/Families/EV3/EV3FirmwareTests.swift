// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// A pretended brick answers what a real one answers, byte by byte.
@Suite struct EV3FirmwareTests {
  private var device = EV3Device(EV3Device.Configuration())
  private let now = MonotonicTime(nanoseconds: 1_000_000_000)

  private mutating func answer(_ type: EV3MessageType, _ body: [UInt8]) throws -> EV3Message {
    try #require(device.take(EV3Message(number: 7, type: type, body: body), now: now).first)
  }

  private mutating func system(_ command: EV3SystemCommand) throws -> (reply: EV3SystemReply, byteCount: Int) {
    let message = try answer(.systemCommand, command.body())
    return (try EV3SystemReply(decoding: message.body), try message.encoded().count)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// COM_GET GET_NETWORK: name, address of the hardware, address of the network, each in as many bytes as was said.
  @Test mutating func aBrickSaysItsNetworkNamesAndAddresses() throws {
    for hardware: UInt8 in 1...3 {
      let reply = try answer(.directCommand, [48, 0, 0xD3, 14, hardware, 16, 0x60, 0x70, 0xE1, 32])
      try #require(reply.type == .directReply && reply.body.count == 48)
      #expect(Self.text(reply.body[0..<16]) == "EV3")
      #expect(Self.text(reply.body[16..<32]) == "001653000001")
      #expect(Self.text(reply.body[32..<48]) == "127.0.0.1")
    }
    #expect(try answer(.directCommand, [48, 0, 0xD3, 14, 4, 16, 0x60, 0x70, 0xE1, 32]).type == .directError)
  }

  /// What else the firmware's tables have: instructions, their results' bytes, and what comes back.
  @Test(
    arguments: [
      ("UI_READ GET_EVENT", 1, [0x81, 4, 0x60], [0]),
      ("UI_READ GET_STRING", 4, [0x81, 8, 4, 0x60], [0, 0, 0, 0]),
      ("UI_READ GET_SHUTDOWN", 1, [0x81, 16, 0x60], [0]),
      ("UI_READ GET_IP", 10, [0x81, 27, 10, 0x60], Array("127.0.0.1".utf8) + [0]),
      ("UI_READ GET_USBSTICK", 12, [0x81, 31, 0x60, 0x64, 0x68], [UInt8](repeating: 0, count: 12)),
      ("UI_WRITE PUT_STRING", 0, [0x82, 8, 0x84, 0x41, 0], []),
      ("UI_WRITE VALUE8", 0, [0x82, 9, 1], []),
      ("UI_WRITE VALUE16", 0, [0x82, 10, 0x82, 1, 1], []),
      ("UI_WRITE VALUE32", 0, [0x82, 11, 0x83, 1, 1, 1, 1], []),
      ("UI_WRITE DOWNLOAD_END", 0, [0x82, 15], []),
      ("UI_WRITE SET_BUSY", 1, [0x82, 22, 1, 0x81, 17, 0x60], [0x80]),
      ("UI_WRITE TERMINAL", 0, [0x82, 31, 1], []),
      ("UI_BUTTON TESTSHORTPRESS", 1, [0x83, 12, 1, 0x60], [0]),
      ("UI_BUTTON TESTLONGPRESS", 1, [0x83, 13, 1, 0x60], [0]),
      ("INPUT_DEVICE CAL_MINMAX", 0, [0x99, 3, 16, 0, 0, 1], []),
      ("INPUT_DEVICE CAL_DEFAULT", 0, [0x99, 4, 16, 0], []),
      ("INPUT_DEVICE GET_FIGURES", 2, [0x99, 24, 0, 0, 0x60, 0x61], [4, 0]),
      ("COM_GET GET_ON_OFF", 1, [0xD3, 1, 2, 0x60], [1]),
      ("COM_GET GET_VISIBLE", 1, [0xD3, 2, 2, 0x60], [1]),
      ("COM_GET GET_ID", 13, [0xD3, 12, 2, 13, 0x60], Array("001653000001".utf8) + [0]),
      ("COM_SET SET_ON_OFF", 0, [0xD4, 1, 2, 1], []),
      ("COM_SET SET_VISIBLE", 0, [0xD4, 2, 2, 1], []),
      ("COM_SET SET_BRICKNAME", 4, [0xD4, 8, 0x84, 0x41, 0, 0xD3, 13, 4, 0x60], [0x41, 0, 0, 0]),
      ("FILE MAKE_FOLDER", 1, [0xC0, 10, 0x84] + Array("../prjs/x".utf8) + [0, 0x60], [1]),
    ] as [(String, UInt8, [UInt8], [UInt8])])
  mutating func anInstructionOfTheFirmwareHasItsResult(
    name: String, globals: UInt8, code: [UInt8], expected: [UInt8]
  ) throws {
    let reply = try answer(.directCommand, [globals, 0] + code)
    #expect(reply.type == .directReply && reply.body == expected, "\(name): \(reply)")
  }

  @Test mutating func filesAreMovedAndRemovedByInstructions() throws {
    device.files.put([1, 2, 3], at: "../prjs/a")
    func paths(_ paths: String...) -> [UInt8] { paths.flatMap { [0x84] + Array($0.utf8) + [0] } }
    #expect(try answer(.directCommand, [0, 0, 0xC0, 31] + paths("../prjs/a", "../prjs/b")).type == .directReply)
    #expect(device.files.contents("../prjs/a") == nil && device.files.contents("../prjs/b") == [1, 2, 3])
    #expect(try answer(.directCommand, [0, 0, 0xC0, 30] + paths("../prjs/b")).type == .directReply)
    #expect(try answer(.directCommand, [0, 0, 0xC0, 30] + paths("../prjs/b")).type == .directError)
  }

  /// A reply has room for 1024 bytes in all: 1016 of a file where its size isn't told, 1012 where it is.
  @Test mutating func aReplyIsFilledUp() throws {
    device.files.put([UInt8](repeating: 9, count: 10_000), at: "../prjs/a")
    for asked: UInt16 in [1_012, 1_013, 1_016] {
      let begun = try system(.beginUpload(maximum: asked, path: "../prjs/a"))
      let beginning = try begun.reply.beginning()
      #expect(beginning.data.count == 1_012 && begun.byteCount == EV3Limits.message)
      let next = try system(.continueUpload(handle: beginning.handle, maximum: asked))
      #expect(try next.reply.piece().data.count == Int(asked))
      #expect(next.byteCount == 8 + Int(asked) && next.byteCount <= EV3Limits.message)
      _ = try system(.closeHandle(beginning.handle))
    }
    #expect(EV3Limits.uploadPiece == 1_012 && EV3Limits.nextUploadPiece == 1_016)
  }

  /// Only where more was asked for than there is does a brick say that the listing is at its end.
  @Test mutating func aListingOfExactlyTheSizeEndsLater() throws {
    let path = "/home/root/lms2012/sys"
    let size = try system(.listFiles(maximum: 1_012, path: path)).reply.beginning().size
    #expect(try system(.listFiles(maximum: UInt16(size + 1), path: path)).reply.status == .endOfFile)
    let just = try system(.listFiles(maximum: UInt16(size), path: path)).reply
    #expect(just.status == .success)
    let beginning = try just.beginning()
    #expect(beginning.data.count == size)
    let rest = try system(.continueListFiles(handle: beginning.handle, maximum: 10)).reply
    #expect(try rest.status == .endOfFile && rest.piece().data.isEmpty)
    #expect(device.openHandles == 0)
  }

  /// BLUETOOTHPIN is for USB alone.
  @Test mutating func aCommandForUSBAloneIsRefused() throws {
    let reply = try answer(.systemCommand, [0x9F, 0])
    #expect(try EV3SystemReply(decoding: reply.body).status == .illegalConnection)
  }
}
