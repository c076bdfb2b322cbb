// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import ESPHomeAPI

/// Frames of the native API, encrypted and not.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NativeLineTests {
  init() throws { try Sodium.load() }

  private static func bytes(_ text: String) throws -> [UInt8] {
    try #require(Hexadecimal.bytes(text.filter { $0 != " " }))
  }

  private func encrypted() -> NativeLine {
    NativeLine(psk: Array(0...31), name: "box", mac: "0200c0ffee01", secret: { Array(0x40...0x5F) })
  }

  private static let opening = """
    010000 01003100 358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254 8b18e980a5463f4f4ed6a227d01eebb1
    """
  private static let hello = "01001e afbce0a526e7c549bf898458c644896a41dcafb859b698d9c95e8c87be85"

  /// A conversation that ESPHome's own client, libsodium and libcrypto agree on, with fixed keys.
  @Test(arguments: [1, 7, 1_000]) func theHandshakeIsByteForByte(_ piece: Int) throws {
    var line = encrypted()
    let all = try Self.bytes(Self.opening + Self.hello)
    var messages: [NativeLine.Message] = []
    var sent: [UInt8] = []
    for start in stride(from: 0, to: all.count, by: piece) {
      line.take(Array(all[start..<min(start + piece, all.count)]))
      while case .message(let message) = line.next() { messages.append(message) }
      sent += line.takeOutput()
    }
    let expected = """
      010012 01 626f7800 30323030633066666565303100
      01003100 79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a 08d629a47626962aacde23c4ab9801ba
      """
    #expect(sent == (try Self.bytes(expected.replacing("\n", with: ""))))
    #expect(messages == [.init(id: 1, payload: (try Self.bytes("0a047465737410011813"))[...])])
    #expect(line.frame(8, []) == (try Self.bytes("010014 850a850c35736215a3d03699119cd8b857f6fe8b")))
    #expect(line.frame(8, []) == (try Self.bytes("010014 d5d78e683c1fde067023736d9b5e49a88749b8ad")))
  }

  /// Each byte of the handshake and of the first message, changed: refused, and nothing of it is believed.
  @Test func aChangedByteIsRefused() throws {
    let all = try Self.bytes(Self.opening + Self.hello)
    // The content of the client's hello is its own.
    for index in 3..<all.count {
      var line = encrypted()
      var changed = all
      changed[index] ^= 0x10
      line.take(changed)
      guard case .end = line.next() else {
        // A longer frame, of which more would have to come.
        #expect([4, 5, 56, 57].contains(index), "byte \(index)")
        continue
      }
      #expect(line.frame(8, []).isEmpty && !line.isOpen)
    }
  }

  @Test func aWrongKeyIsToldInTheWordsThatClientsKnow() throws {
    var line = NativeLine(psk: Array(1...32), name: "box", mac: "0200c0ffee01")
    line.take(try Self.bytes(Self.opening))
    #expect(line.next() == .end("it has another key"))
    let sent = String(decoding: line.takeOutput(), as: UTF8.self)
    #expect(sent.contains("box") && sent.hasSuffix("Handshake MAC failure"))
  }

  @Test func clientsThatWantTheOtherKindAreTold() throws {
    var line = encrypted()
    line.take([0, 0, 7])
    #expect(line.next() == .end("it doesn't encrypt"))
    #expect(line.takeOutput().first == 1)
    var plain = NativeLine(psk: nil, name: "box", mac: "")
    plain.take(try Self.bytes("010000"))
    #expect(plain.next() == .end("it wants an encrypted connection, and this one isn't"))
    #expect(plain.takeOutput() == [0, 0, 0])
    for psk in [nil, [UInt8](repeating: 1, count: 32)] {
      var browser = NativeLine(psk: psk, name: "box", mac: "")
      browser.take(Array("GET / HTTP/1.1\r\n".utf8))
      #expect(browser.next() == .end("it doesn't speak the native API"))
      #expect(browser.takeOutput().isEmpty)
    }
  }

  @Test func plainFramesHaveLimits() throws {
    var line = NativeLine(psk: nil, name: "box", mac: "")
    line.take([0, 0, 7, 0])
    #expect(line.next() == .message(.init(id: 7, payload: [])))
    #expect(line.next() == .nothing)
    line.take([2, 40, 1])
    #expect(line.next() == .nothing)
    line.take([2])
    #expect(line.next() == .message(.init(id: 40, payload: [1, 2])))
    #expect(line.frame(7, []) == [0, 0, 7])
    #expect(line.frame(150, [9]) == [0, 1, 0x96, 1, 9])
    for bad: [UInt8] in [[0, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0, 0x81, 0x80, 0x40, 1]] {
      var line = NativeLine(psk: nil, name: "box", mac: "")
      line.take(bad)
      guard case .end = line.next() else {
        Issue.record("\(bad) is taken")
        continue
      }
    }
  }

  // MARK: - Fields

  @Test func fieldsAreWrittenAndRead() throws {
    var writer = ProtobufWriter()
    writer.put(1, 300)
    writer.put(2, "text")
    writer.put(3, true)
    writer.put(fixed: 4, 0xFF6B_AFA5)
    writer.put(5, 57.5 as Float)
    writer.put(6, 0)
    writer.put(7, message: { $0.put(1, 1) })
    #expect(
      writer.bytes == (try Self.bytes("08ac02 120474657874 1801 25a5af6bff 2d00006642 3a020801")))
    let fields = try #require(ProtobufFields(writer.bytes[...]))
    #expect(fields.number(1) == 300 && fields.text(2) == "text" && fields.flag(3) && fields.fixed(4) == 0xFF6B_AFA5)
    #expect(fields.float(5) == 57.5 && fields.number(6) == 0 && fields.bytes(7) == [8, 1] && fields.number(2) == 0)
  }

  @Test(arguments: [
    "08", "0a05 01", "25 0102", "09 01", "0b", "00 01", "ffffffffffffffffffff01", "08ffffffffffffffffff02",
  ])
  func brokenFieldsAreNoMessage(_ text: String) throws {
    #expect(ProtobufFields((try Self.bytes(text))[...]) == nil)
  }

  @Test func manyFieldsAreNoMessage() {
    #expect(ProtobufFields([UInt8](repeating: 0x08, count: 200)[...]) == nil)
  }
}
