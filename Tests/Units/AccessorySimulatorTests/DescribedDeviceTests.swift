// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import TestSupport
import Testing

/// Pretended accessories of the protocols that ship: with the values of an example, each answers the example's request with
/// the example's bytes.
@Suite struct DescribedDeviceTests {
  /// An example with a request and an answer.
  struct Exchange: Sendable, CustomTestStringConvertible {
    let name: String
    let description: ProtocolDescription
    let example: Int
    let sent, received: [UInt8]
    var testDescription: String { "\(name), line \(description.examples[example].line)" }
  }

  /// Examples that no accessory of the description can send to the byte, by protocol, request and count of bytes, and why: what is sent
  /// instead means the same. Where only that differs which nobody describes, no exception is needed.
  private static let others = [
    "daly temperatures 26": "it sends frames for more sensors than it has",
    "elm327 voltage 8": "it is of an adapter that sends nothing back",
    "elm327 voltage 12": "it is of an adapter that leaves the unit out",
    "elm327 engine_speed 34": "it looks for the bus first, and has a zero that counts for nothing",
    "megatec status 46": "it is padded with blanks, and a digit short",
    "pylontech alarms 84": "it ends with a byte that isn't described",
    "renogy model 21": "behind the text are blanks, not zeros",
    "srne model 21": "behind the text are blanks, not zeros",
    "vesc values 79": "its sensors that aren't there are colder than can be",
    "abc-bms cells 40": "it sends frames for more cells than the example has",
    "renogy-pro switches 21": "it has bits that aren't described",
    "tdt other_state 43": "it has bits that aren't described",
    "tdt state 71": "it has bits that aren't described",
  ]

  static let exchanges: [Exchange] = DescriptionLibrary.builtIn.names.flatMap { name -> [Exchange] in
    guard let description = DescriptionLibrary.builtIn.described(name)?.description,
      let codec = try? DescribedCodec(description)
    else { return [] }
    let writer = RequestEncoder(codec)
    return description.examples.indices.compactMap { index in
      let example = description.examples[index]
      guard let request = example.request, !example.received.isEmpty, !example.isRefused else { return nil }
      guard let sent = example.sent ?? (try? writer.bytes(request, example.arguments).bytes) else { return nil }
      return Exchange(name: name, description: description, example: index, sent: sent, received: example.received)
    }
  }

  @Test func thereIsOneOfEach() {
    let asked = Set(Self.exchanges.map(\.name))
    let others = DescriptionLibrary.builtIn.names.filter { !asked.contains($0) }
    #expect(others == ["ecoworthy", "topband", "victron-ble"], "they send by themselves")
  }

  /// What the accessory sends when it has the example's values and is asked what the example asks.
  private func answer(_ exchange: Exchange) throws -> [UInt8] {
    var device = try DescribedDevice(exchange.description, serialNumber: "SIM0001")
    if let unit = exchange.description.examples[exchange.example].unit { device.unit = unit }
    let isTaken = device.take(example: exchange.example)
    try #require(isTaken)
    return device.take(exchange.sent).flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
  }

  private func key(_ exchange: Exchange) -> String {
    let request = exchange.description.examples[exchange.example].request
    let name = request.map { exchange.description.requests[$0].name } ?? ""
    return "\(exchange.name) \(name) \(exchange.received.count)"
  }

  /// Whether an answer is the example's, or differs from it only in what nobody describes.
  private func isAsDescribed(_ answer: [UInt8], _ exchange: Exchange) throws -> Bool {
    if answer == exchange.received { return true }
    func values(_ received: [UInt8]) throws -> [String: PlainValue]? {
      var description = exchange.description
      description.examples = [exchange.description.examples[exchange.example]]
      description.examples[0].received = received
      return try ExampleCheck(description).values(0)?.values
    }
    return try hasUndescribedBytes(exchange) && values(answer) == values(exchange.received)
  }

  /// Whether there are bytes in an example's answer that nobody describes: other ones change nothing of what is read.
  private func hasUndescribedBytes(_ exchange: Exchange) throws -> Bool {
    var codec = try DescribedCodec(exchange.description)
    let decoder = MessageDecoder(codec)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(exchange.received.span.bytes, into: &batch)
    return (0..<batch.count).contains { index in
      let (header, content) = (batch.header(at: index), batch.payloadBytes(at: index))
      guard batch.outcome(at: index) == .whole, header.body.upperBound <= content.count,
        let message = decoder.message(header, content.span.bytes)
      else { return false }
      let read = decoder.decode(message, header, content.span.bytes)
      return header.body.contains { place in
        var other = content
        other[place] = ~other[place]
        return decoder.decode(message, header, other.span.bytes) == read
      }
    }
  }

  @Test func noExceptionIsSuperfluous() throws {
    let inexact = try Self.exchanges.filter { try !isAsDescribed(answer($0), $0) }
    #expect(Set(inexact.map(key)) == Set(Self.others.keys))
  }

  @Test(arguments: exchanges) func aSimulatorAnswersAsInTheExamples(exchange: Exchange) throws {
    let answer = try answer(exchange)
    guard Self.others[key(exchange)] != nil else {
      let isRight = try isAsDescribed(answer, exchange)
      #expect(isRight, "\(Hexadecimal.string(answer)), not \(Hexadecimal.string(exchange.received))")
      return
    }
    var description = exchange.description
    description.examples = [exchange.description.examples[exchange.example]]
    description.examples[0].received = answer
    #expect(try ExampleCheck(description).problems() == [])
  }

  /// The kinds whose real accessories send numbers of any length.
  private static let unformed: Set = ["felicity", "vedirect"]

  /// At every charge each answer has as many bytes as that of the real accessory, and in lines of columns each column as many: other
  /// programs find some of them by their place.
  @Test(arguments: exchanges) func answersKeepTheirFormAtEveryCharge(exchange: Exchange) throws {
    guard try answer(exchange) == exchange.received, !Self.unformed.contains(exchange.name) else { return }
    var device = try DescribedDevice(exchange.description, serialNumber: "SIM0001")
    if let unit = exchange.description.examples[exchange.example].unit { device.unit = unit }
    device.take(example: exchange.example)
    for percent in [0, 5, 9, 10, 57, 99, 100] {
      guard device.set(percent: percent) else { return }
      let sent = device.take(exchange.sent).flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
      #expect(sent.count == exchange.received.count, "at \(percent) %: \(Hexadecimal.string(sent))")
      guard exchange.name == "megatec" else { continue }
      let columns = [sent, exchange.received].map { $0.split(separator: 0x20).map(\.count) }
      #expect(columns[0] == columns[1], "at \(percent) %: \(String(decoding: sent, as: UTF8.self))")
    }
  }
}

/// What a device sends by itself.
@Suite struct DescribedPushTests {
  private func device(_ kind: String) throws -> DescribedDevice {
    let description = try #require(DescriptionLibrary.builtIn.described(kind)).description
    return try DescribedDevice(description, serialNumber: "SIM0001")
  }

  /// The first bytes of what is sent in a round, and whether there is another round.
  private func round(_ device: inout DescribedDevice) -> [[UInt8]] {
    let effects = device.perform(.round)
    #expect(effects.contains { if case .after(_, .round) = $0 { true } else { false } })
    return effects.compactMap { if case .send(let bytes) = $0 { bytes } else { nil } }
  }

  /// A pack is of one version: it sends its state, and then its cells, always in this order.
  @Test func messagesOfOneVersionComeInTheirOrder() throws {
    var device = try device("ecoworthy")
    for _ in 0..<3 { #expect(round(&device).map(\.first) == [0xA1, 0xA2]) }
  }

  /// A device that advertises is of one kind: that with the value that was set.
  @Test func whoAdvertisesIsOfOneKind() throws {
    var shunt = try device("victron-ble")
    #expect(round(&shunt).map { $0[8] } == [2])
    var charger = try device("victron-ble")
    try charger.set("panel_power", to: .whole(120))
    try charger.set("battery.current", to: .number(9.5))
    #expect(round(&charger).map { $0[8] } == [1])
  }
}

/// The battery's charge, and requests that a description doesn't have.
@Suite struct DescribedChargeTests {
  private func device(_ kind: String, parameters: [String: Double] = [:]) throws -> DescribedDevice {
    let description = try #require(DescriptionLibrary.builtIn.described(kind)).description
    return try DescribedDevice(description.setting(parameters), serialNumber: "SIM0001")
  }

  /// What a reader of the accessory has, who gives these numbers for the parameters.
  private func reported(
    _ device: DescribedDevice, by parameters: [String: Double] = [:], request name: String
  ) throws -> [String: PlainValue] {
    var description = device.description.setting(parameters)
    let request = try #require(description.request(named: name))
    let sent = try RequestEncoder(try DescribedCodec(description)).bytes(request, unit: device.unit).bytes
    var device = device
    let received = device.take(sent).flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
    var example = ProtocolDescription.Example(received: received)
    (example.request, example.unit) = (request, device.unit)
    description.examples = [example]
    var values = try #require(try ExampleCheck(description).values(0)).values
    for derived in description.derivedValues(from: { values[$0] }) { values[derived.name] = derived.value }
    return values
  }

  @Test(arguments: [0, 12, 57, 100]) func theRemainingCapacityIsSet(percent: Int) throws {
    var device = try device("pylontech")
    let isSet = device.set(percent: percent)
    #expect(isSet && device.percent == percent)
    #expect(try reported(device, request: "analog")["battery.percent"]?.asNumber == Double(percent))
  }

  @Test(arguments: [0, 12, 57, 100]) func theBatteryVoltageIsSet(percent: Int) throws {
    let own = ["battery_empty": 22.0, "battery_full": 26.0]
    var device = try device("megatec", parameters: own)
    let isSet = device.set(percent: percent)
    #expect(isSet)
    let values = try reported(device, by: own, request: "status")
    // Its field has tenths of volts.
    let volts = try #require(values["battery.voltage"]?.asNumber)
    #expect(abs(volts - (22 + Double(percent * 4) / 100)) <= 0.05001)
    #expect(abs(try #require(device.percent) - percent) <= 1)
    #expect(values["battery.warnings"] == .list(percent <= 20 ? [.text("battery-low")] : []))
  }

  /// A charge that is coarser in what is sent still falls by one percent at a time.
  @Test func aBatteryWithACoarseVoltageDrains() throws {
    var device = try device("megatec", parameters: ["battery_empty": 22, "battery_full": 26])
    device.set(percent: 40)
    for _ in 0..<39 { _ = device.perform(.drain) }
    #expect(try #require(device.percent) <= 2)
  }

  /// Nobody gave its voltages: those of a lead battery of 24 V.
  @Test func theVoltageHasADefaultRange() throws {
    var device = try device("megatec")
    let isSet = device.set(percent: 50)
    #expect(isSet)
    let voltages = ["battery_empty": 21.0, "battery_full": 27.0]
    let values = try reported(device, by: voltages, request: "status")
    #expect(values["battery.voltage"]?.asNumber == 24 && values["battery.percent"]?.asNumber == 50)
  }

  @Test(arguments: ["sdm120", "elm327"]) func aKindWithoutChargeRefuses(kind: String) throws {
    var device = try device(kind)
    let before = device.values
    #expect(device.set(percent: 50) == false)
    #expect(device.values == before)
  }

  /// The maker's document reads everything with command 03 and no tag.
  @Test func jkIsReadByCommand3() throws {
    var device = try device("jk")
    let all = device.take(try #require(Hexadecimal.bytes("4e5700130000000006030000000000006800000129")))
    let read = device.take(try #require(Hexadecimal.bytes("4e5700130000000003030000000000006800000126")))
    guard case .send(let first)? = all.last, case .send(let second)? = read.last else {
      Issue.record("it sends nothing")
      return
    }
    // They differ in the command, and in the sum.
    #expect(first.count == second.count && first.count > 280 && (first[8], second[8]) == (6, 3))
    #expect(first[11..<(first.count - 4)] == second[11..<(second.count - 4)])
  }

  /// A line that is none of the requests is refused as the description says, also in pieces, and once.
  @Test func anUnknownLineIsRefused() throws {
    var description = try #require(DescriptionLibrary.builtIn.described("elm327")).description
    description.name = "another"
    var device = try DescribedDevice(description, serialNumber: "SIM0001")
    let effects = device.take(Array("AT".utf8)) + device.take(Array("XX\rATRV\r".utf8))
    let sent = effects.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
    #expect(String(decoding: sent, as: UTF8.self) == "?>ATRV\r13.1V>")
  }
}

/// Requests that change something.
@Suite struct DescribedWriteTests {
  private static let text = """
    protocol: lamp
    version: 1
    framings:
      f: {layout: [start: DD, code: u8, level: u8, length: {type: u8, of: data}, data, check: {algorithm: sum8, over: code..data}]}
    messages:
      state:
        when: {code: 1}
        fields:
          - {name: brightness, type: i16, scale: 0.1, unit: "%"}
          - {name: on, type: u8, truth: true}
          - {name: mode, type: u8, words: {0: steady, 7: blinking}}
          - {name: alarms, type: u8, flags: {0: hot, 1: wet}}
          - {name: note, type: text, bytes: 4}
          - {name: level, type: u8}
      done: {when: {code: [2, 3, 4]}}
      refused: {when: {code: 9}, refusal: true}
    requests:
      state: {send: f, with: {code: 1, level: 0}, reply: state}
      set:
        send: f
        with: {code: 2, level: "{level}"}
        data: [{argument: brightness}, {argument: mode}, {argument: on}, {argument: alarms}, {argument: note}]
        arguments:
          brightness: {type: i16, from: -100, to: 1000, scale: 0.1, unit: "%"}
          mode: {type: u8, from: 0, to: 7, words: {steady: 0, blinking: 7}}
          on: {type: u8, from: 0, to: 1}
          alarms: {type: u8}
          note: {type: text, from: 0, to: 9999}
          level: {type: u8, from: 0, to: 9}
        reply: done
        write: true
        sets:
          brightness: "{brightness}"
          mode: "{mode}"
          on: "{on}"
          alarms: "{alarms}"
          note: "{note}"
          level: "{level}"
      off: {send: f, with: {code: 3, level: 0}, reply: done, write: true, sets: {on: false, brightness: -1.5, note: dark, alarms: none}}
      other: {send: f, with: {code: 4, level: 0}, reply: done, write: true}
    """

  private func send(_ device: inout DescribedDevice, _ request: String, _ arguments: [String: Int] = [:]) throws {
    let index = try #require(device.description.request(named: request))
    let writer = RequestEncoder(try DescribedCodec(device.description))
    _ = device.take(try writer.bytes(index, arguments).bytes)
  }

  @Test func writtenValuesAreReadBack() throws {
    let description = try DescriptionReader.read(Array(Self.text.utf8), file: "lamp.yaml").description
    var device = try DescribedDevice(description, serialNumber: "SIM0001")
    try send(
      &device, "set", ["brightness": -25, "mode": 7, "on": 1, "alarms": 3, "note": 42, "level": 5])
    let set: [String: PlainValue] = [
      "brightness": .number(-2.5), "mode": .text("blinking"), "on": .flag(true),
      "alarms": .list([.text("hot"), .text("wet")]), "note": .text("42"), "level": .whole(5),
    ]
    #expect(device.values == set)
    try send(&device, "other")
    try send(&device, "state")
    #expect(device.values == set)
    // One that is refused changes nothing.
    var refusing = device
    refusing.quirks.refused = [try #require(description.request(named: "off")): nil]
    try send(&refusing, "off")
    #expect(refusing.values == set)
    try send(&device, "off")
    let off: [String: PlainValue] = [
      "on": .flag(false), "brightness": .number(-1.5), "note": .text("dark"), "alarms": .list([]),
    ]
    #expect(device.values == set.merging(off) { $1 })
  }

  /// A text without a framing, of an example that is shipped.
  @Test func aMotorIsLetGo() throws {
    let root = ProjectFolder.path
    let text = try SmallFile.read(root + "/Examples/Protocols/odrive.yaml", limit: 1 << 16)
    let description = try DescriptionReader.read(text, file: "odrive.yaml").description
    var device = try DescribedDevice(description, serialNumber: "SIM0001")
    func state() -> String {
      let effects = device.take(Array("r axis0.current_state\n".utf8))
      return String(
        decoding: effects.flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }, as: UTF8.self)
    }
    #expect(state() == "8\r\n")
    _ = device.take(Array("w axis0.requested_state 1\n".utf8))
    #expect(state() == "1\r\n")
  }
}
