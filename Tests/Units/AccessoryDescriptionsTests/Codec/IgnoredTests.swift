// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Bytes and texts that count for nothing, and messages whose frames differ in their heads.
@Suite struct IgnoredTests {
  private typealias Element = ProtocolDescription.Element

  /// The data of the frames in a text, which comes in pieces of so many bytes.
  private func bodies(_ text: String, pieces: Int = 1_000) throws -> [String] {
    var framing = ProtocolDescription.Framing(
      name: "answer", form: .layout([Element("data", .body(nil)), Element("end", .constant([0x3E]))]))
    framing.ignoredBytes = [0, 7]
    framing.ignoredTexts = [Array("SEARCHING...".utf8), Array("..".utf8)]
    var description = ProtocolDescription(name: "x")
    description.framings = [framing]
    var codec = try DescribedCodec(description)
    var batch = FrameBatch<DescribedHeader>()
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      codec.decode(bytes[start..<min(start + pieces, bytes.count)].span.bytes, into: &batch)
    }
    return (0..<batch.count).map { index in
      let content = batch.payloadBytes(at: index)
      #expect(content.suffix(1) == [0x3E] && batch.header(at: index).body == 0..<(content.count - 1))
      return String(decoding: content[batch.header(at: index).body], as: UTF8.self)
    }
  }

  @Test(arguments: [1, 3, 1_000]) func ignoredTextsAreDroppedHoweverTheyAreCut(pieces: Int) throws {
    let read = try bodies("plain>SEARCHING...\r41 0C>\0a\u{7}b\0>SEARCH\0ING...>>SEARCHING.>....x..>", pieces: pieces)
    #expect(read == ["plain", "\r41 0C", "ab", "", "", "SEARCHING.", "x"])
  }

  /// A text that appears when another one is dropped is another's.
  @Test func aTextLeftByADroppedOneIsKept() throws {
    #expect(try bodies("SEARSEARCHING...CHING...>") == ["SEARCHING."], "the dots go with the second text")
  }

  @Test func aMessageIsSentInItsShortestFraming() throws {
    func layout(_ start: UInt8, _ count: Int) -> ProtocolDescription.Form {
      .layout([
        Element("start", .constant([start])),
        Element("length", .length(.init(byteCount: count), of: 2...3, adjust: 0, nibbleCheck: false)),
        Element("id", .number(.init(byteCount: 1))), Element("data", .body(nil)),
      ])
    }
    var description = ProtocolDescription(name: "x")
    description.framings = [.init(name: "short", form: layout(2, 1)), .init(name: "long", form: layout(3, 2))]
    var message = ProtocolDescription.Message(name: "text", framing: 0)
    message.otherFramings = [1]
    message.conditions = [.init(2, [9])]
    message.body = .fields([.field(.init("text", .restOfText(padding: [])))])
    description.messages = [message]
    let codec = try DescribedCodec(description)
    let (decoder, encoder) = (MessageDecoder(codec), MessageEncoder(codec))
    for text in ["short", String(repeating: "l", count: 254), String(repeating: "l", count: 255)] {
      let frame = try encoder.frame(0, ["text": .text(text)])
      #expect(frame[0] == (text.utf8.count > 254 ? 3 : 2))
      var codec = codec
      var batch = FrameBatch<DescribedHeader>()
      codec.decode(frame.span.bytes, into: &batch)
      try #require(batch.count == 1)
      let content = batch.payloadBytes(at: 0)
      #expect(decoder.message(batch.header(at: 0), content.span.bytes) == 0)
      #expect(decoder.decode(0, batch.header(at: 0), content.span.bytes)["text"]?.value == .text(text))
    }
  }
}
