// SPDX-License-Identifier: Apache-2.0

import FamilyHM10
import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct HM10LineCodecTests {
  private struct Part: Equatable {
    var part: HM10PieceKind
    var text: String
  }

  /// What comes of pieces; an empty one is silence. Neighbouring data is joined, since how it is cut means nothing.
  private func decode(_ pieces: [String], scanning: Bool = false) -> [Part] {
    var codec = HM10LineCodec()
    codec.isScanning = scanning
    var batch = FrameBatch<HM10PieceKind>()
    for piece in pieces {
      if piece.isEmpty { codec.idle(into: &batch) } else { codec.decode(Array(piece.utf8).span.bytes, into: &batch) }
    }
    var parts: [Part] = []
    for index in 0..<batch.count {
      let part = Part(
        part: batch.header(at: index), text: String(decoding: batch.payloadBytes(at: index), as: UTF8.self))
      if part.part == .data, parts.last?.part == .data {
        parts[parts.count - 1].text += part.text
      } else {
        parts.append(part)
      }
    }
    return parts
  }

  /// The same, byte by byte.
  private func decodeSlowly(_ pieces: [String], scanning: Bool = false) -> [Part] {
    decode(pieces.flatMap { $0.isEmpty ? [""] : $0.map { String($0) } }, scanning: scanning)
  }

  @Test(arguments: [
    // What follows a connection is data, whatever it looks like.
    (["OK+CONN:0017EA090909OK+NAME:x\r\n", ""], ["OK+CONN:0017EA090909"], "OK+NAME:x\r\n"),
    (["OK+CONNhello", ""], ["OK+CONN"], "hello"),
    (["OK+CONN", "", "Ehello", ""], ["OK+CONN"], "Ehello"),
    (["OK+CONNA", "OK+CONN", "", "OK", ""], ["OK+CONNA", "OK+CONN"], "OK"),
    // Not everything that begins so is one.
    (["OK+CONNAOK+CONNF", ""], ["OK+CONNA", "OK+CONNF"], ""),
    // The end of a connection has silence behind it.
    (["OK+CONN", "", "OK+LOST!", "OK+LOSTOK+LOSTx", ""], ["OK+CONN"], "OK+LOST!OK+LOSTOK+LOSTx"),
  ])
  func repliesAndDataAreToldApart(pieces: [String], replies: [String], data: String) {
    var wanted = replies.map { Part(part: .reply, text: $0) }
    if !data.isEmpty { wanted.append(Part(part: .data, text: data)) }
    #expect(decode(pieces) == wanted)
    #expect(decodeSlowly(pieces) == wanted)
  }

  @Test(arguments: ["OK+LOST", "OK+LOST:0017EA090909"]) func aLostConnectionEndsTheData(lost: String) {
    let pieces = ["OK+CONN", "", "data" + lost, "", "OK+NAME:x\r\n"]
    let wanted = [
      Part(part: .reply, text: "OK+CONN"), Part(part: .data, text: "data"), Part(part: .lost, text: lost),
      Part(part: .reply, text: "OK+NAME:x\r\n"),
    ]
    #expect(decode(pieces) == wanted)
    #expect(decodeSlowly(pieces) == wanted)
  }

  /// Half of it isn't one, and is given back.
  @Test(arguments: ["O", "OK+", "OK+LOS", "OK+LOST:", "OK+LOST:0017EA09090"])
  func halfOfALostConnectionsReplyIsData(text: String) {
    let parts = decode(["OK+CONN", "", text, "", "more"])
    #expect(parts.dropFirst() == [Part(part: .data, text: text + "more")])
  }

  @Test func nothingIsAConnectionInAScan() {
    let parts = decode(["OK+NAME:x\r\nOK+CONN:0017EA090909OK+DISCE", ""], scanning: true)
    #expect(parts.map(\.part) == [.reply, .reply, .reply])
  }

  /// What looks like the end of a scan is one when nothing follows.
  @Test func theEndOfAScan() {
    let pieces = ["OK+NAME:x\r\nOK+DISCE\r\nOK+DIS0:0017EA090909", "OK+DISCE", "", "OK+DISCE", "OK"]
    let wanted = ["OK+NAME:x\r\n", "OK+DIS0:0017EA090909", "OK+DISCE"].map { Part(part: .reply, text: $0) }
    #expect(decode(pieces, scanning: true) == wanted)
    #expect(decodeSlowly(pieces, scanning: true) == wanted)
  }

  /// Noise hides nothing of what follows it without a pause.
  @Test(arguments: ["\r\n", "O", "\r\nOOK", "OK+DIS0:00", String(repeating: "x", count: 3_000)])
  func noiseInAScanHidesNoReply(noise: String) {
    let pieces = [noise + "OK+DIS0:0017EA090909" + noise + "OK+RSSI:-066", "OK+DISCE", ""]
    for parts in [decode(pieces, scanning: true), decodeSlowly(pieces, scanning: true)] {
      #expect(parts.contains(Part(part: .reply, text: "OK+DIS0:0017EA090909")))
      #expect(parts.contains(Part(part: .reply, text: "OK+RSSI:-066")))
      #expect(parts.last == Part(part: .reply, text: "OK+DISCE"))
    }
  }

  @Test func aConnectedLineKeepsLittle() {
    var codec = HM10LineCodec()
    var batch = FrameBatch<HM10PieceKind>()
    codec.decode(Array("OK+CONN:0017EA090909".utf8).span.bytes, into: &batch)
    for _ in 0..<1_000 { codec.decode(Array("OK+LOST:0000000000000".utf8).span.bytes, into: &batch) }
    #expect(codec.unfinishedByteCount <= 20)
    #expect(codec.counters.frames > 1_000)
  }
}
