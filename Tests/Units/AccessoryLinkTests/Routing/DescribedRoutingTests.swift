// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink

@Suite struct DescribedRoutingTests {
  private static let basic = bytes("DD A5 03 00 FF FD 77")
  private static let cells = bytes("DD A5 04 00 FF FC 77")
  private static let basicReply = bytes("DD03001B1700000002D003E8000020780000000000001048030F020B760B82FBFF77")
  private static let cellsReply = bytes("DD 04 00 04 0D 0A 0D 0B FF CD 77")
  /// A write: not in the description.
  private static let mosfets = bytes("DD 5A E1 02 00 02 FF 1B 77")

  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }

  private func harness(
    _ description: ProtocolDescription, wire: ModbusWire = .serial, allowsWrites: Bool = true
  ) throws -> RoutingHarness {
    RoutingHarness(
      try #require(try .described(description, label: "bms", wire: wire, allowsWrites: allowsWrites)))
  }

  @Test func eachReplyOfADescriptionGoesToItsClient() throws {
    var harness = try harness(Samples.jbd)
    harness.send(Self.basic, from: 1)
    harness.send(Self.cells, from: 2)
    #expect(harness.takeSent() == [Self.basic])
    harness.answer(Self.basicReply)
    #expect(harness.take(1) == Self.basicReply && harness.take(2).isEmpty)
    // After the pause between two requests.
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == [Self.cells])
    harness.answer(Self.cellsReply)
    #expect(harness.take(2) == Self.cellsReply && harness.take(1).isEmpty)
  }

  @Test func theReplyToAnotherRequestIsNobodys() throws {
    var harness = try harness(Samples.jbd)
    harness.send(Self.basic, from: 1)
    harness.answer(Self.cellsReply)
    // An adapter gives the request back.
    harness.answer(Self.basic)
    #expect(harness.take(1).isEmpty)
    harness.answer(Self.basicReply)
    #expect(harness.take(1) == Self.basicReply)
  }

  @Test func aRepeatIsSentWhenNobodyAnswered() throws {
    var harness = try harness(Samples.jbd)
    harness.send(Self.basic, from: 1)
    #expect(harness.takeSent() == [Self.basic])
    harness.send(Self.basic, from: 1)
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(600))
    #expect(harness.takeSent() == [Self.basic])
    // Nobody has asked again.
    harness.advance(.seconds(5))
    #expect(harness.takeSent().isEmpty && harness.statistics.unanswered == 2)
  }

  @Test func aLateAnswerIsNotTakenForAnothers() throws {
    // Nothing in these answers says what they answer.
    var lines = ProtocolDescription(name: "lines")
    lines.framings = [
      .init(name: "line", form: .layout([.init("data", .body(nil)), .init("end", .constant([10]))]))
    ]
    lines.messages = [.init(name: "any", framing: 0)]
    for (name, text) in [("a", "A?"), ("b", "B?")] {
      var request = ProtocolDescription.Request(
        name: name, sends: .frame(framing: 0, elements: [:], body: [.bytes(Array(text.utf8))]))
      request.reply = 0
      lines.requests.append(request)
    }
    var harness = try harness(lines)
    harness.send(Array("A?\n".utf8), from: 1)
    harness.send(Array("B?\n".utf8), from: 2)
    #expect(harness.takeSent() == [Array("A?\n".utf8)])
    harness.advance(.milliseconds(550))
    // It may still come.
    #expect(harness.takeSent().isEmpty)
    harness.answer(Array("1\n".utf8))
    #expect(harness.take(1).isEmpty && harness.take(2).isEmpty)
    #expect(harness.takeSent() == [Array("B?\n".utf8)])
    harness.answer(Array("2\n".utf8))
    #expect(harness.take(2) == Array("2\n".utf8))
  }

  @Test func anUndescribedRequestNeedsPermissionToWrite() throws {
    // It may be a write.
    var guarded = try harness(Samples.jbd, allowsWrites: false)
    guarded.send(Self.mosfets + Self.basic, from: 1)
    #expect(guarded.takeSent() == [Self.basic])
    guard case .refused(1, let reason)? = guarded.news.first else { return #expect(Bool(false), "\(guarded.news)") }
    #expect(reason.contains("--write"))
    // With permission it is sent, and whatever comes then is its answer.
    var free = try harness(Samples.jbd)
    free.send(Self.mosfets, from: 1)
    free.send(Self.basic, from: 2)
    #expect(free.takeSent() == [Self.mosfets])
    let answer = Self.bytes("DD E1 00 00 00 00 77")
    free.answer(answer)
    #expect(free.take(1) == answer)
    free.advance(.milliseconds(200))
    #expect(free.takeSent() == [Self.basic])
  }

  @Test func aMarkedWriteNeedsPermission() throws {
    var description = Samples.jbd
    description.requests[1].isWrite = true
    var harness = try harness(description, allowsWrites: false)
    harness.send(Self.cells + Self.basic, from: 1)
    #expect(harness.takeSent() == [Self.basic])
  }

  @Test func unitsAreToldApart() throws {
    var harness = try harness(Samples.units)
    harness.send(Self.bytes("A5 41 90 00 76"), from: 1)
    #expect(harness.takeSent() == [Self.bytes("A5 41 90 00 76")])
    // Unit 1 answers nobody.
    harness.answer(Self.bytes("A5 01 90 32 68"))
    #expect(harness.take(1).isEmpty)
    harness.answer(Self.bytes("A5 02 90 32 69"))
    #expect(harness.take(1) == Self.bytes("A5 02 90 32 69"))
  }

  @Test func aReplyOfSeveralFramesGoesToItsClient() throws {
    var harness = try harness(Samples.daly)
    let ask = Self.frame(0x40, 0x95, [0, 0, 0, 0, 0, 0, 0, 0])
    harness.send(ask, from: 1)
    harness.send(Self.frame(0x40, 0x94, [0, 0, 0, 0, 0, 0, 0, 0]), from: 2)
    #expect(harness.takeSent() == [ask])
    let pieces = (1...3).map { Self.frame(1, 0x95, [UInt8($0), 13, 10, 13, 11, 13, 12, 0]) }
    for piece in pieces { harness.answer(piece) }
    #expect(harness.take(1) == pieces.flatMap { $0 })
    harness.advance(.milliseconds(300))
    #expect(harness.takeSent().count == 1)
  }

  private static func frame(_ address: UInt8, _ id: UInt8, _ data: [UInt8]) -> [UInt8] {
    let frame = [0xA5, address, id, 8] + data
    return frame + [frame.reduce(0, &+)]
  }

  @Test func whatIsPushedGoesToAll() throws {
    var harness = try harness(Samples.pms5003)
    let numbers: [UInt8] = [0, 28] + (0..<13).flatMap { [0, $0] }
    let sum = numbers.reduce(0x42 + 0x4D) { $0 + Int($1) }
    let frame = [0x42, 0x4D] + numbers + [UInt8(sum >> 8), UInt8(sum & 255)]
    harness.answer(frame)
    for client in 1...3 { #expect(harness.take(client) == frame) }
  }

  @Test func modbusReadsPassAndWritesDoNot() throws {
    var harness = try harness(Samples.charger, allowsWrites: false)
    // Any registers may be read, also others than those of the description.
    let read = Self.crc([1, 4, 0x33, 0x1A, 0, 1])
    let other = Self.crc([1, 3, 0, 9, 0, 1])
    harness.send(Self.crc([1, 6, 0, 9, 0, 1]) + read, from: 1)
    harness.send(other, from: 2)
    #expect(harness.takeSent() == [read])
    harness.answer(Self.crc([1, 4, 2, 5, 6]))
    #expect(harness.take(1) == Self.crc([1, 4, 2, 5, 6]))
    harness.advance(.milliseconds(50))
    #expect(harness.takeSent() == [other])
    // It refuses.
    harness.answer(Self.crc([1, 0x83, 2]))
    #expect(harness.take(2) == Self.crc([1, 0x83, 2]) && harness.statistics.refused == 1)
  }

  private static func crc(_ bytes: [UInt8]) -> [UInt8] {
    let crc = CRC16.checksum(of: bytes.span.bytes, .crc16MODBUS)
    return bytes + [UInt8(crc & 255), UInt8(crc >> 8)]
  }

  @Test func modbusOverANetworkKeepsNumbers() throws {
    var harness = try harness(Samples.charger, wire: .network)
    let content: [UInt8] = [1, 4, 0x33, 0x1A, 0, 1]
    func wrapped(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
      [0, number, 0, 0, 0, UInt8(content.count)] + content
    }
    harness.send(wrapped(99, content), from: 1)
    let sent = try #require(harness.takeSent().first)
    #expect(sent.dropFirst(2) == wrapped(99, content).dropFirst(2))
    harness.answer(wrapped(sent[1], [1, 4, 2, 5, 6]))
    #expect(harness.take(1) == wrapped(99, [1, 4, 2, 5, 6]))
  }

  @Test func requestsWithoutFramesAreNotRouted() throws {
    var description = Samples.jbd
    description.requests[0].sends = .bytes([.bytes([1])])
    let routing = try FrameRouting.described(description, label: "bms", allowsWrites: true)
    #expect(routing == nil)
  }
}
