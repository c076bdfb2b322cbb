// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import ESPHomeAPI

/// The client's side of frames and of the handshake.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NativeClientTests {
  init() throws { try Sodium.load() }

  private static func bytes(_ text: String) throws -> [UInt8] {
    try #require(Hexadecimal.bytes(text.filter { $0 != " " }))
  }

  private func encrypted(_ key: [UInt8]? = Array(0...31)) -> NativeLine {
    NativeLine(clientWith: key, secret: { Array(0x20...0x3F) })
  }

  private static let opening = """
    010000 01003100 358072d6365880d1aeea329adf9121383851ed21a28e3b75e965d0d2cd166254 8b18e980a5463f4f4ed6a227d01eebb1
    """
  private static let answer =
    "010012 01 626f7800 30323030633066666565303100 "
    + "01003100 79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a 08d629a47626962aacde23c4ab9801ba"

  /// The other side of the conversation that ESPHome's own client, libsodium and libcrypto agree on.
  @Test(arguments: [1, 7, 1_000]) func theHandshakeIsByteForByte(_ piece: Int) throws {
    var line = encrypted()
    let opening = line.takeOutput()
    #expect(opening == (try Self.bytes(Self.opening)))
    let early = line.frame(1, [])
    #expect(early.isEmpty && !line.isOpen)
    let all = try Self.bytes(Self.answer + "010014 850a850c35736215a3d03699119cd8b857f6fe8b")
    var messages: [NativeLine.Message] = []
    for start in stride(from: 0, to: all.count, by: piece) {
      line.take(Array(all[start..<min(start + piece, all.count)]))
      while case .message(let message) = line.next() { messages.append(message) }
    }
    #expect(messages == [.init(id: 8, payload: [])] && line.isOpen)
    let hello = line.frame(1, try Self.bytes("0a047465737410011813"))
    #expect(
      hello == (try Self.bytes("01001e afbce0a526e7c549bf898458c644896a41dcafb859b698d9c95e8c87be85")))
  }

  /// Each byte of the server's handshake, changed: refused, and nothing of it is believed. Its names are its own.
  @Test func aChangedByteIsRefused() throws {
    let all = try Self.bytes(Self.answer)
    for index in 21..<all.count {
      var line = encrypted()
      var changed = all
      changed[index] ^= 0x10
      line.take(changed)
      guard case .end = line.next() else {
        // A longer frame, of which more would have to come.
        #expect([22, 23].contains(index), "byte \(index)")
        continue
      }
      let frame = line.frame(1, [])
      #expect(frame.isEmpty && !line.isOpen)
    }
  }

  @Test func eachKindOfServerIsToldFromTheOthers() throws {
    func problem(_ key: [UInt8]?, _ answer: [UInt8]) -> NativeLine.Problem? {
      var line = encrypted(key)
      line.take(answer)
      guard case .end = line.next() else { return nil }
      return line.problem
    }
    let key: [UInt8] = Array(0...31)
    #expect(problem(nil, [1, 0, 3, 1, 0x62, 0]) == .needsKey)
    #expect(problem(key, [0, 0, 0]) == .needsNoKey)
    for key in [nil, key] { #expect(problem(key, Array("HTTP/1.1 400 Bad Request".utf8)) == .isSomethingElse) }
    // Another key, as the server's own side says it, and as only the client sees it.
    var server = NativeLine(psk: Array(1...32), name: "box", mac: "0200c0ffee01")
    server.take(try Self.bytes(Self.opening))
    _ = server.next()
    #expect(problem(key, server.takeOutput()) == .otherKey)
    var answer = try Self.bytes(Self.answer)
    answer[answer.count - 1] ^= 1
    #expect(problem(key, answer) == .otherKey)
    let refusal = [1, 0, 8, 1, 0x67, 0x6F, 0x20, 0x61, 0x77, 0x61, 0x79] as [UInt8]
    #expect(problem(key, try Self.bytes("010003 01 6200") + refusal) == .refused("go away"))
  }

  @Test func framesOfAServerHaveLimits() {
    var line = encrypted(nil)
    let ping = line.frame(7, [])
    #expect(line.isOpen && ping == [0, 0, 7])
    line.take([0, 0x80, 0x80, 0x04, 1])
    guard case .end = line.next() else {
      Issue.record("65,536 bytes are awaited")
      return
    }
  }

  /// The key of zeros is known to everybody.
  @Test func aKeyIs32BytesOfBase64() {
    #expect(NativeKey.bytes("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=") == Array(0...31))
    for wrong in [
      "", "AAECAwQF", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "no key",
      "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gIQ==",
    ] {
      #expect(NativeKey.bytes(wrong) == nil, "\(wrong)")
    }
  }

  @Test func repeatedFieldsAreAllThere() throws {
    let fields = try #require(ProtobufFields([0x0A, 1, 65, 0x0A, 0, 0x0A, 1, 66]))
    #expect(fields.all(1) == [[65], [], [66]] && fields.text(1) == "B" && fields.all(2) == [])
    #expect(ProtobufFields([UInt8](repeating: 0x08, count: 200)[...], limit: 100) != nil)
  }
}
