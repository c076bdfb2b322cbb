// SPDX-License-Identifier: Apache-2.0

import FamilyHM10
import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct HM10ReplyTests {
  static func address(_ digits: String) -> BluetoothAddress {
    BluetoothAddress(digits) ?? BluetoothAddress(digits: Array("000000000000".utf8)[...])!
  }

  static let one = address("001122334455")

  static let vectors: [(String, HM10Reply)] = [
    ("OK", .ok), ("OK+LOST", .lost), ("OK+ADDR:001122334455", .address(one)),
    ("OK+RADD:001122334455", .lastAddress(one)),
    ("OK+NAME:HMSoft\r\n", .name("HMSoft")), ("OK+Set:robot", .set("robot")),
    ("HMSoft V540", .text(Array("HMSoft V540".utf8))), ("DSD TECH V551", .text(Array("DSD TECH V551".utf8))),
    ("OK+BATT:000", .battery(0)), ("OK+BATT:100", .battery(100)), ("OK+Get:085", .get("085")), ("OK+Get:0", .get("0")),
    ("OK+Set:4", .set("4")), ("OK+START", .acknowledged(.start)), ("OK+CLEAR", .acknowledged(.clear)),
    ("OK+SLEEP", .acknowledged(.sleep)), ("OK+WAKE", .acknowledged(.wake)), ("OK+RENEW", .acknowledged(.renew)),
    ("OK+RESET", .acknowledged(.reset)), ("OK+CONN", .connection(.made(nil))),
    ("OK+CONN:001122334455", .connection(.made(one))), ("OK+CONNA", .connection(.accepted)),
    ("OK+CONNE", .connection(.error)), ("OK+CONNF", .connection(.failed)), ("OK+CONNL", .connection(.tryingLast)),
    ("OK+CONNN", .connection(.noAddress)), ("OK+CONN0", .connection(.tryingIndex(0))),
    ("OK+CONN5", .connection(.tryingIndex(5))), ("OK+DISCS", .discovery(.began(.devices))),
    ("OK+DISIS", .discovery(.began(.beacons))), ("OK+DISAS", .discovery(.began(.advertisements))),
    ("OK+DISCE", .discovery(.ended)), ("OK+DIS0:A6D73C040381", .discovery(.found(address("A6D73C040381"), type: 0))),
    ("OK+DIS2:A6D73C040381", .discovery(.found(address("A6D73C040381"), type: 2))),
    ("OK+DISC:A6D73C040381", .discovery(.found(address("A6D73C040381"), type: nil))),
    ("OK+RSSI:-066", .signalStrength(-66)), ("+LADDR=xyz", .clone(name: "LADDR", text: "xyz")),
    ("OK+PASS:000000", .value(name: "PASS", text: "000000")),
  ]

  /// What the genuine module's codec and the reader make of a stream; "|" stands for silence.
  private func read(_ stream: String, dialect: HM10Dialect = .genuine) -> [HM10Reply] {
    var codec = dialect.codec
    var batch = FrameBatch<ReplyEnd>()
    for (index, part) in stream.split(separator: "|", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { codec.idle(into: &batch) }
      codec.feed(part.utf8, into: &batch)
    }
    return batch.payloads.map { HM10Reply(decoding: $0) }
  }

  @Test(arguments: vectors) func aModulesReplyIsReadAndEncodedTheSame(wire: String, reply: HM10Reply) {
    #expect(HM10Reply(decoding: Array(wire.utf8)) == reply)
    #expect(reply.encoded == Array(wire.utf8))
    #expect(read(wire + "|") == [reply])
  }

  @Test(arguments: vectors) func aClonesReplyIsReadByItsLine(wire: String, reply: HM10Reply) {
    var line = wire.utf8.filter { $0 != 0x0D && $0 != 0x0A }
    line += [0x0D, 0x0A]
    var codec = HM10Dialect.clone.codec
    let replies = codec.received(line).payloads.map { HM10Reply(decoding: $0) }
    #expect(replies.count == 1 && (replies[0] == reply || replies[0].plainText == wire))
  }

  @Test func otherFormsOfRepliesAreRead() {
    #expect(HM10Reply(decoding: Array("OK+SetName:xyz".utf8)) == .set("xyz"))
    #expect(HM10Reply(decoding: Array("OK+NAME:HMSoft".utf8)) == .name("HMSoft"))
    #expect(HM10Reply(decoding: Array("OK\r\n".utf8)) == .ok)
    #expect(HM10Reply(decoding: Array("+LADDR:a".utf8)) == .clone(name: "LADDR", text: "a"))
    #expect(HM10Reply(decoding: Array("HMSoft V540\r\n".utf8)).plainText == "HMSoft V540")
  }

  @Test func aBatterysPercentHasThreeDigits() {
    for (wire, percent) in [
      ("OK+BATT:000", 0), ("OK+BATT:057", 57), ("OK+BATT:100", 100), ("OK+Get:000", 0), ("OK+Get:057", 57),
      ("OK+Get:100", 100),
    ] { #expect(HM10Reply(decoding: Array(wire.utf8)).batteryPercent == percent) }
    for wire in [
      "OK+BATT:101", "OK+BATT:", "OK+BATT:1x0", "OK+BATT:-10", "OK+Get:0xFFE0", "OK+Get:", "OK", "OK+Get:0057",
      "OK+BATT:10", "OK+Get:1",
    ] {
      #expect(HM10Reply(decoding: Array(wire.utf8)).batteryPercent == nil)
    }
  }

  @Test func aSignalStrengthHasThreeDigits() {
    for (wire, strength) in [("-066", -66), ("-000", 0), ("012", 12), ("-06", nil), ("-6", nil), ("-", nil), ("", nil)]
    {
      let expected = strength.map { HM10Reply.signalStrength($0) } ?? .value(name: "RSSI", text: wire)
      #expect(HM10Reply(decoding: Array("OK+RSSI:\(wire)".utf8)) == expected)
    }
  }

  @Test func theLongestReplyThatFitsIsTaken() {
    #expect(read("OK+CONNA|OK+CONN|") == [.connection(.accepted), .connection(.made(nil))])
    #expect(read("OK+CONNAOK+CONNF") == [.connection(.accepted), .connection(.failed)])
    #expect(read("OK+CONNOK+LOST") == [.connection(.made(nil)), .lost])
    #expect(read("OK+CONN:001122334455OK+LOST") == [.connection(.made(Self.one)), .lost])
    #expect(read("OKOK+LOST") == [.ok, .lost])
    #expect(read("OK+Get:100OK+LOST") == [.get("100"), .lost])
    #expect(read("OK+Get:1OK+LOST") == [.get("1"), .lost])
    #expect(read("OK+Get:000000|OK+Get:0xFFE0|") == [.get("000000"), .get("0xFFE0")])
    #expect(read("OK+Set:1OK+LOST|") == [.set("1OK+LOST")], "a name can be anything")
    #expect(read("OK") == [] && read("OK+CONN") == [] && read("OK+LOST") == [.lost])
  }

  static let log =
    "OK+DISCSOK+DIS0:A6D73C040381OK+RSSI:-066OK+NAME:L3250 Series\r\nOK+DIS0:D43639A63BC4OK+RSSI:-062"
    + "OK+NAME:HMSoft\r\nOK+DISCE"

  @Test func aRecordedScanListsItsNeighbours() throws {
    let replies = read(Self.log)
    #expect(replies.flatMap(\.encoded) == Array(Self.log.utf8))
    var scan = HM10Scan()
    for reply in replies.dropLast() { scan.take(reply) }
    #expect(scan.isRunning)
    scan.take(.discovery(.ended))
    #expect(!scan.isRunning)
    let printer = HM10Neighbour(
      address: Self.address("A6D73C040381"), addressType: 0, name: "L3250 Series", signalStrength: -66, index: 0)
    let module = HM10Neighbour(
      address: Self.address("D43639A63BC4"), addressType: 0, name: "HMSoft", signalStrength: -62, index: 1)
    #expect(scan.neighbours == [printer, module] && scan.strongestFirst == [module, printer])
    expectSameForAnyCuts(HM10Dialect.genuine.codec, Array(Self.log.utf8))
  }

  @Test func scansOfOldFirmwareAreRead() {
    #expect(
      read("OK+DISCSOK+DISC:001122334455OK+DISC:001122334456OK+DISCE") == [
        .discovery(.began(.devices)), .discovery(.found(Self.one, type: nil)),
        .discovery(.found(Self.address("001122334456"), type: nil)), .discovery(.ended),
      ])
  }

  @Test func aBeaconIsReadUnlessItIsDamaged() throws {
    let wire = "OK+DISC:4C000215:74278BDAB64445208F0C720EAF059935:FFE0FFE1C5:78A5048CECAC:-053"
    #expect(wire.utf8.count == 78)
    let beacon = try #require(
      HM10Beacon(
        uuid: hex("74278BDAB64445208F0C720EAF059935"), major: 0xFFE0, minor: 0xFFE1, power: -59,
        address: Self.address("78A5048CECAC"), signalStrength: -53))
    let expected = [HM10Reply.discovery(.began(.beacons)), .discovery(.beacon(beacon)), .discovery(.ended)]
    #expect(read("OK+DISIS" + wire + "OK+DISCE") == expected)
    #expect(expected[1].encoded == Array(wire.utf8))
    expectSameForAnyCuts(HM10Dialect.genuine.codec, Array(wire.utf8))
    // A damaged one is no beacon.
    for place in [10, 17, 25, 76] {
      var bytes = Array(wire.utf8)
      bytes[place] = UInt8(ascii: "/")
      guard case .value = HM10Reply(decoding: bytes) else { Issue.record("\(place)"); continue }
    }
  }

  @Test(arguments: ["OK+DISA:", "OK+DISC:"]) func advertisementsAreReadWithAnyData(word: String) throws {
    var stream = Array("OK+DISAS".utf8)
    var expected = [HM10Reply.discovery(.began(.advertisements))]
    // With line ends and replies in the data.
    for data in [[], hex("02 01 06"), Array("\r\nOK+DISCE\r\n".utf8), Array(repeating: 0x0D, count: 31)] {
      let record = try #require(HM10Advertisement(address: Self.one, type: 3, signalStrength: -70, data: data))
      expected.append(.discovery(.advertisement(record)))
      stream += Array(word.utf8) + expected[expected.count - 1].encoded.dropFirst(8)
    }
    stream += Array("OK+DISCE".utf8)
    expected.append(.discovery(.ended))
    var codec = HM10Dialect.genuine.codec
    #expect(codec.received(stream).payloads.map { HM10Reply(decoding: $0) } == expected)
    expectSameForAnyCuts(HM10Dialect.genuine.codec, stream)
    #expect(
      HM10Advertisement(address: Self.one, type: 0, signalStrength: 0, data: Array(repeating: 0, count: 32)) == nil)
  }

  @Test func hostileNamesStayNames() {
    let names = ["\u{1B}]0;x\u{7}", "OK+DISCE", "OK+LOST", "\u{0}\u{0}", "a\rb", "a\nb", "é🤖", "", " "]
    let records = names.map { "OK+DIS0:001122334455OK+NAME:\($0)\r\n" }
    let replies = read("OK+DISCS" + records.joined() + "OK+DISCE")
    let read = replies.compactMap { reply -> String? in if case .name(let name) = reply { name } else { nil } }
    #expect(read == names && replies.last == .discovery(.ended) && replies.count == 2 * names.count + 2)
    // Not UTF-8, and far too long.
    #expect(HM10Reply(decoding: Array("OK+NAME:".utf8) + [0xFF, 0x0D, 0x0A]) == .name("\u{FFFD}"))
    var codec = HM10Dialect.genuine.codec
    var batch = codec.received(Array("OK+NAME:".utf8) + [UInt8](repeating: 0x41, count: 5_000))
    #expect(batch.outcomes == [.tooLong] && codec.unfinishedByteCount == 0)
    codec.idle(into: &batch)
    codec.feed("OK+LOST".utf8, into: &batch)
    #expect(batch.payloads == [Array("OK+LOST".utf8)])
  }

  @Test(arguments: vectors) func aTruncatedReplyIsNotTakenForTheWhole(wire: String, reply: HM10Reply) {
    for count in 1..<wire.utf8.count {
      let part = Array(wire.utf8.prefix(count))
      var codec = HM10Dialect.genuine.codec
      var batch = codec.received(part)
      codec.idle(into: &batch)
      // Never lost, and never taken for the whole, but where the whole only lacks its line end or goes on as a text.
      #expect(batch.payloads.flatMap { $0 } == part)
      let read = HM10Reply(decoding: part)
      let isText = if case .set = reply { true } else if case .text = reply { true } else { false }
      #expect(read != reply || isText || wire.hasSuffix("\r\n"), "\(wire) \(count)")
    }
  }

  @Test func repliesAreFoundBetweenGarbage() {
    let first = HM10Reply(decoding: Array("OK+DIS0:A6D73C040381".utf8))
    #expect(
      HM10Reply.replies(inGarbled: Array("~~OK+DIS0:A6D73C040381OK+RSSI:-0zOK+DISCE".utf8)) == [
        .text(Array("~~".utf8)), first, .value(name: "RSSI", text: "-0zOK+DISCE"),
      ])
    #expect(
      HM10Reply.replies(inGarbled: Array("xOK+DI!OK+DISCE".utf8)) == [
        .text([0x78]), .text(Array("OK+DI!".utf8)), .discovery(.ended),
      ])
    #expect(
      HM10Reply.replies(inGarbled: Array("OK+DISASOK+LOST".utf8)) == [.discovery(.began(.advertisements)), .lost])
    #expect(HM10Reply.replies(inGarbled: []) == [.text([])])
    #expect(HM10Reply.replies(inGarbled: Array("OK+LOST".utf8)) == [.lost])
    #expect(HM10Reply.replies(inGarbled: Array("noise".utf8)) == [.text(Array("noise".utf8))])
  }

  @Test(arguments: [UInt64](1...30)) func anythingReadsAndWritesTheSame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    for _ in 0..<40 {
      let wire = Self.vectors[Int.random(in: 0..<Self.vectors.count, using: &random)].0
      var bytes = Array(wire.utf8)
      switch random.next() % 6 {
      case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = random.bytes(1)[0]
      case 1: bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      case 2: bytes += random.bytes(4)
      default: break
      }
      let reply = HM10Reply(decoding: bytes)
      #expect(HM10Reply(decoding: reply.encoded) == reply, "\(bytes)")
      stream += bytes
    }
    expectSameForAnyCuts(HM10Dialect.genuine.codec, stream, everyCut: seed < 4)
    expectSameForAnyCuts(HM10Dialect.clone.codec, stream, everyCut: false)
    #expect(HM10Reply.replies(inGarbled: stream).count <= stream.count)
  }

  @Test func aScanIsBoundedAndKeepsKnownNeighbours() {
    var scan = HM10Scan(limit: 40)
    scan.take(.signalStrength(-1))
    scan.take(.name("nobody"))
    scan.take(.discovery(.began(.devices)))
    for number in 0..<100 as Range<UInt64> {
      scan.take(.discovery(.found(BluetoothAddress(rawValue: number)!, type: 0)))
      scan.take(.signalStrength(number % 7 == 0 ? 0 : -Int(number)))
    }
    #expect(scan.neighbours.count == 40 && scan.neighbours.map(\.index).prefix(7) == [0, 1, 2, 3, 4, 5, nil])
    #expect(scan.strongestFirst.first?.signalStrength == -1 && scan.strongestFirst.last?.signalStrength == nil)
    let strengths = scan.strongestFirst.compactMap(\.signalStrength)
    #expect(strengths == strengths.sorted(by: >))
    // Found again: its place, its index and its name stay, its strength is new.
    scan.take(.discovery(.found(BluetoothAddress(rawValue: 3)!, type: nil)))
    scan.take(.name("late\u{1B}"))
    #expect(scan.take(.signalStrength(-90))?.index == 3 && scan.neighbours[3].name == "late\u{1B}")
    #expect(scan.neighbours[3].addressType == 0 && scan.neighbours.count == 40)
  }

  @Test func aCommandIsAnsweredByItsOwnRepliesOnly() {
    let pairs: [(HM10Command, HM10Reply, Bool)] = [
      (.attention, .ok, true), (.attention, .lost, true), (.battery, .battery(5), true), (.battery, .get("005"), true),
      (.battery, .get("x"), false), (.battery, .lost, false), (.ask(.role), .get("1"), true),
      (.setRole(.central), .set("1"), true), (.ask(.role), .connection(.made(nil)), false),
      (.connect(Self.one), .connection(.accepted), true), (.connect(Self.one), .connection(.made(nil)), false),
      (.connectIndex(2), .connection(.tryingIndex(2)), true), (.connectIndex(2), .connection(.tryingIndex(3)), false),
      (.connectIndex(2), .connection(.error), true), (.connectLast, .connection(.noAddress), true),
      (.discover, .discovery(.began(.devices)), true), (.discover, .discovery(.ended), false),
      (.version(.verr), .text([0x56]), true), (.address, .clone(name: "LADDR", text: ""), true),
      (.ask(.pin), .value(name: "PASS", text: "000000"), true), (.reset, .acknowledged(.reset), true),
      (.reset, .acknowledged(.renew), false), (.name, .name("x"), true), (.setName("x"), .set("x"), true),
    ]
    for (command, reply, isAnswer) in pairs {
      #expect(command.isAnswered(by: reply) == isAnswer, "\(command) \(reply)")
    }
  }
}
