// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What the numbers of described accessories can be.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PlausibleTests {
  private static let fields = """
    {name: battery.voltage, type: u16, value: raw / 100, unit: V},
    {name: battery.current, type: i16, value: raw / 10, unit: A},
    {name: battery.temperatures, type: u16, value: (raw - 2731) / 10, unit: °C, repeat: 2},
    {name: battery.percent, type: u8, unit: "%"}, {name: mosfet_temperature, type: i16, unit: °C},
    {name: input, type: u16, value: raw / 10, unit: V}
    """

  private static func text(_ fields: String = fields, _ rest: String = "") -> String {
    DescriptionSample.head + "framings: {f: {layout: [start: AA, data: 13, end: 0D]}}\n"
      + "messages: {m: {fields: [\(fields)]}}\nrequests: {r: {send: \"Q\", reply: m}}\nplan: {poll: [{requests: r}]}\n"
      + rest
  }

  private static func description(_ rest: String = "") throws -> ProtocolDescription {
    try DescriptionReader.read(Array(text(fields, rest).utf8), file: "f").description
  }

  /// What a message of this body gives.
  private static func decoded(_ body: [UInt8], _ rest: String = "") throws -> DecodedMessage {
    let description = try description(rest)
    var codec = try DescribedCodec(description)
    let decoder = MessageDecoder(codec)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(([0xAA] + body + [0x0D]).span.bytes, into: &batch)
    #expect(batch.count == 1)
    return decoder.decode(0, batch.header(at: 0), batch.payloadBytes(at: 0).span.bytes)
  }

  /// 53.00 V, 2.0 A, 20 °C twice, 50 %, 25 °C, 230.0 V.
  private static let good: [UInt8] = [0x14, 0xB4, 0, 20, 0x0B, 0x73, 0x0B, 0x73, 50, 0, 25, 0x08, 0xFC]

  private static func changed(_ changes: [Int: [UInt8]]) -> [UInt8] {
    var body = good
    for (place, bytes) in changes { body.replaceSubrange(place..<(place + bytes.count), with: bytes) }
    return body
  }

  @Test func whatCanBeIsTold() throws {
    let message = try Self.decoded(Self.good)
    #expect(message.problemCount == 0 && message.plausibility.implausible.isEmpty)
    #expect(message["battery.voltage"]?.value.asNumber == 53 && message["input"]?.value.asNumber == 230)
  }

  /// By what numbers of accessories mean "unknown", also in fields of which the description doesn't say so.
  @Test func numbersOfSensorsThatAreMissingAreUnknownAndCounted() throws {
    let message = try Self.decoded(
      Self.changed([2: [0x7F, 0xFF], 4: [0, 0], 6: [0xFF, 0xFF], 8: [0xFF], 9: [0x80, 0], 11: [0xFF, 0xFF]]))
    #expect(message["battery.current"]?.value == .nothing && message["battery.percent"]?.value == .nothing)
    #expect(message["battery.temperatures"]?.value == .list([.nothing, .nothing]))
    #expect(message["mosfet_temperature"]?.value == .nothing && message["input"]?.value == .nothing)
    #expect(message["battery.voltage"]?.value.asNumber == 53)
    #expect(message.problemCount == 6)
    // They say that they aren't known, which is no reason to doubt the voltage.
    #expect(message.plausibility.isBelievable && message.plausibility.implausible.isEmpty)
  }

  @Test func oneNumberThatCantBeIsUnknownAndNamed() throws {
    let message = try Self.decoded(Self.changed([9: [0x03, 0x09]]))
    #expect(message["mosfet_temperature"]?.value == .nothing && message.problemCount == 1)
    #expect(message.plausibility.isBelievable && message.plausibility.implausible == ["mosfet_temperature 777 °C"])
  }

  @Test func aLittleMoreThanAllIsAll() throws {
    #expect(try Self.decoded(Self.changed([8: [101]]))["battery.percent"]?.value.asNumber == 100)
    #expect(try Self.decoded(Self.changed([8: [150]]))["battery.percent"]?.value == .nothing)
  }

  @Test func aRecordOfWhichMuchCantBeIsNotBelieved() async throws {
    let bad = Self.changed([2: [0x7A, 0], 4: [0x20, 0, 0x30, 0], 8: [200]])
    #expect(try !Self.decoded(bad).plausibility.isBelievable)
    let script = AccessoryScript([
      .expect(Array("Q".utf8)), .send([0xAA] + Self.good + [0x0D]), .expect(Array("Q".utf8)),
      .send([0xAA] + bad + [0x0D]),
      .expect(Array("Q".utf8)), .send([0xAA] + Self.changed([9: [0x03, 0x09]]) + [0x0D]),
    ])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), Self.description())
    let reading = try await accessory.readBattery()
    #expect(reading.percent == 50 && reading.missing == nil)
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .badData)
    let message = error?.message ?? ""
    #expect(message.contains("battery.current 3123.2 A, battery.temperatures"), "\(message)")
    // Nothing of it was stored, and the next is told with what it lacks.
    let values = try await accessory.readValues()
    #expect(values.value.first { $0.name == "mosfet_temperature" }?.content == nil)
    #expect(values.missing == "what can't be is unknown: mosfet_temperature 777 °C")
    await accessory.close()
    try script.check()
  }

  @Test func aDescriptionNarrowsTheRanges() throws {
    let rest = "plausible: {battery.voltage: 40.5..60, temperature: -20..60, input: 100..200}\n"
    let message = try Self.decoded(Self.changed([9: [0, 61]]), rest)
    #expect(message["battery.voltage"]?.value.asNumber == 53)
    #expect(message["mosfet_temperature"]?.value == .nothing && message["input"]?.value == .nothing)
    #expect(try Self.decoded(Self.changed([0: [0x0F, 0xD1]]), rest)["battery.voltage"]?.value == .nothing)
    // Without a battery, a temperature may be that of a kiln.
    let kiln = try DescriptionReader.read(
      Array(Self.text("{name: kiln, type: u16, unit: °C}").utf8), file: "f"
    ).description
    #expect(kiln.plausible["kiln"]?.told(900) == 900 && kiln.plausible["kiln"]?.told(65_535) == nil)
  }

  @Test(
    arguments: [
      (
        "{batery.voltage: 1..2}",
        "\"batery.voltage\" is not a number of this file, or its quantity: did you mean battery.voltage?"
      ),
      ("{battery.voltage: 2}", "a plausible range is two numbers, like -20..60 or 2.5..3.65, not \"2\""),
      ("{battery.voltage: 5..1}", "a plausible range is two numbers, like -20..60 or 2.5..3.65, not \"5..1\""),
      ("{battery.percent: 0..200}", "battery.percent can be 0 to 100 % at the most"),
    ]) func mistakesAreReported(ranges: String, mistake: String)
  {
    let found = DescriptionSample.mistakes(Self.text(Self.fields, "plausible: \(ranges)\n"))
    #expect(found.map { $0.drop { $0 != " " }.dropFirst() } == [mistake[...]])
  }

  /// Every shipped description has bounds for what it tells of a battery.
  @Test func theNumbersOfEveryBatteryHaveBounds() throws {
    for name in DescriptionLibrary.builtIn.names {
      let description = try #require(DescriptionLibrary.builtIn.described(name)).description
      for field in description.messages.flatMap(\.fields) where DescribedPart.isBattery(field.name) {
        guard field.flags.isEmpty, field.words.isEmpty, field.unit != nil else { continue }
        #expect(description.plausible[field.name] != nil, "\(name): \(field.name)")
      }
    }
  }
}

/// Records of JK's first balancers begin like those of its later systems.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct OldJKTests {
  private static func received(_ name: String, _ request: String) throws -> (sent: [UInt8], received: [UInt8]) {
    let description = try #require(DescriptionLibrary.builtIn.described(name)).description
    let example = try #require(
      description.examples.first { $0.request.map { description.requests[$0].name } == request && $0.sent != nil })
    return (try #require(example.sent), example.received)
  }

  @Test func anOldBalancerIsNoneOfTheLaterSystems() async throws {
    let about = try Self.received("jk04", "about")
    let script = AccessoryScript([.expect(about.sent), .send(about.received)])
    let error = await #expect(throws: AccessoryError.self) {
      try await DescribedAccessory.open(
        AccessorySession(script.transport), #require(DescriptionLibrary.builtIn.described("jk02")).description)
    }
    #expect(error?.kind == .unsupported && error?.message.contains("is jk04, not jk02") == true)
  }

  @Test func anOldBalancerTellsItsCells() async throws {
    let (about, state) = (try Self.received("jk04", "about"), try Self.received("jk04", "state"))
    let script = AccessoryScript([
      .expect(about.sent), .send(about.received), .expect(state.sent), .send(state.received),
    ])
    let accessory = try await DescribedAccessory.open(
      AccessorySession(script.transport), #require(DescriptionLibrary.builtIn.described("jk04")).description)
    let battery = try await accessory.battery()
    #expect(battery.millivolts == 53_691 && battery.cellMillivolts.count == 16)
    #expect(battery.cellMillivolts.allSatisfy { $0.map { (3_340...3_360).contains($0) } ?? false })
    #expect(battery.faults == nil && battery.temperatures.isEmpty && battery.percent == nil)
    await accessory.close()
  }

  /// Without the other record, as of a firmware of both kinds, the numbers themselves show that it is another kind.
  @Test func aRecordOfOldKindIsNotBelieved() throws {
    let description = try #require(DescriptionLibrary.builtIn.described("jk02")).description
    let state = try Self.received("jk04", "state").received
    var codec = try DescribedCodec(description)
    let decoder = MessageDecoder(codec)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(state.span.bytes, into: &batch)
    let message = try #require(description.message(named: "state"))
    for generation in [3, 8, 11, 15] {
      let decoded = decoder.decode(
        message, batch.header(at: 0), batch.payloadBytes(at: 0).span.bytes, known: ["generation": generation])
      #expect(!decoded.plausibility.isBelievable, "\(generation): \(decoded.plausibility)")
    }
  }
}
