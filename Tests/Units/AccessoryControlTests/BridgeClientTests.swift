// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import TestSupport
import Testing

/// What programs ask a service through: the answers as Swift's values, and errors as the accessory's.
@Suite("The client of a service", .timeLimit(.minutes(Patience.minutes(2)))) struct BridgeClientTests {
  @Test func aClientGetsAnswersAsValues() async throws {
    let sample = try await SampleServer()
    let client = try await BridgeClient.connect(to: sample.path, replyTimeout: .seconds(60))
    #expect(try await client.list() == [SampleBridge.accessory])
    let device = client.device("X1", label: "my robot")
    let battery: Read<BatteryReading> = try await device.read()
    #expect(
      battery.value
        == BatteryReading(percent: 57, level: .normal, millivolts: 3_700, milliamperes: -12, charge: .discharging))
    let status: Read<StatusAndIdentity> = try await device.read()
    #expect(
      status.status == AccessoryStatus(state: .idle, progress: 4, reportsFaults: true)
        && status.age == .milliseconds(3))
    #expect(
      status.identity
        == AccessoryIdentity(
          manufacturer: "Maker", name: "Thing", model: "T", serialNumber: "X1", firmwareRevision: "1.2",
          hardwareRevision: "A"))
    let values: Read<ReadValues> = try await device.read()
    #expect(values.value.map(\.value) == SampleBridge.values.map(\.value))
    #expect(try await device.info().line?.baud == 115_200)
    #expect(try await device.request("echo", payload: [1, 0xFF]).payload == [1, 0xFF])
    #expect(try await device.commands().commands.map(\.name) == ["turn"])
    let replies = try await device.perform([.init("turn"), .init("turn", ["speed": "1"])], isAnswered: true).replies
    #expect(replies.map(\.command) == ["turn", "turn"])
    #expect(try await device.perform([.init("turn")], isAnswered: false).replies == [])
    #expect(try await device.entries(of: "a").map(\.name) == ["a", "f"])
    try await device.makeFolder("a")
    try await device.remove("a")
    #expect(try await device.detach() == SampleBridge.device)
    #expect(try await client.attach("X1").accessory == SampleBridge.accessory)
    try await client.expect("X1")
    #expect(try await client.service() == SampleBridge.service)
    await sample.server.close()
  }

  /// A refusal is the accessory's error; in what the service says, the device is called as its user called it.
  @Test func errorsAreTheAccessorys() async throws {
    let sample = try await SampleServer()
    let client = try await BridgeClient.connect(to: sample.path, replyTimeout: .seconds(60))
    let refused = await #expect(throws: AccessoryError.self) {
      try await client.device("X1").request("nothing", payload: [])
    }
    #expect(refused?.kind == .refused && refused?.code == .refusal(2))
    let missing = await #expect(throws: AccessoryError.self) {
      try await client.device("/dev/x", label: "my robot").read() as Read<BatteryReading>
    }
    #expect(missing == AccessoryError(.notFound, "there is no my robot"))
    await sample.server.close()
    let gone = await #expect(throws: AccessoryError.self) { try await client.list() }
    #expect(gone?.kind == .disconnected)
    let nobody = await #expect(throws: AccessoryError.self) { try await BridgeClient.connect(to: sample.path) }
    #expect(nobody?.isNoService == true)
  }

  /// A service that is older than a method is named with its version, and what is to be done about it.
  @Test func anOlderServiceIsNamed() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    let information = #"{"vendor":"","product":"Accessory Bridge","version":"0.1.0","url":"","interfaces":[]}"#
    let service = try CannedService(at: path, ["GetInfo": [information]])
    let client = try await BridgeClient.connect(to: path, replyTimeout: .seconds(60))
    let error = await #expect(throws: AccessoryError.self) { try await client.device("X1").read() as Read<ReadValues> }
    #expect(error?.kind == .unsupported)
    #expect(
      error?.message
        == "the service at \(path) (Accessory Bridge 0.1.0) doesn't know Values: it is older than this program. "
        + "Install the service of this program's version and restart it: systemctl restart accessory-bridge, or end "
        + "bridge-cli serve and start it again")
    #expect(service.calls.value == ["Values", "GetInfo"])
    service.close()
  }

  /// A service that doesn't know writes refuses what asks for them as a whole, and is named; who doesn't ask is served.
  @Test func anOlderServiceKnowsNoWrites() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    let information = #"{"vendor":"","product":"Accessory Bridge","version":"0.1.0","url":"","interfaces":[]}"#
    func unknown(_ parameter: String) -> String {
      #"!{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
    }
    let service = try CannedService(
      at: path,
      [
        "GetInfo": [information], "Perform write": [unknown("write")], "Perform dry_run": [unknown("dry_run")],
        "Open write": [unknown("write")], "Request write": [unknown("write")], "Battery fresh": [unknown("fresh")],
      ])
    let device = try await BridgeClient.connect(to: path, replyTimeout: .seconds(60)).device("X1")
    func check(_ error: AccessoryError?) {
      #expect(error?.kind == .unsupported)
      #expect(error?.message.contains("(Accessory Bridge 0.1.0) doesn't know") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("it is older than this program") == true)
    }
    check(
      await #expect(throws: AccessoryError.self) {
        try await device.perform([.init("cut")], isAnswered: true, write: true)
      })
    check(await #expect(throws: AccessoryError.self) { try await device.preview([.init("cut")], write: false) })
    check(await #expect(throws: AccessoryError.self) { try await device.request("0x41", payload: [], write: true) })
    check(await #expect(throws: AccessoryError.self) { try await device.open(write: true) })
    let fresh = ReadingWish(isFresh: true)
    check(await #expect(throws: AccessoryError.self) { try await device.read(fresh) as Read<BatteryReading> })
    service.close()
  }

  /// Who wants values of a service that doesn't know them is told all else.
  @Test func anOlderServiceTellsTheRest() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    let unknown = #"!{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"values"}}"#
    let service = try CannedService(
      at: path, ["Subscribe values": [unknown], "Subscribe": [#"{"event":"ready","time":1}"#, "{}"]])
    let client = try await BridgeClient.connect(to: path, replyTimeout: .seconds(60))
    var events = try await client.device("X1").events(values: true).makeAsyncIterator()
    #expect(try await events.next() == .ready)
    #expect(service.calls.value == ["Subscribe", "Subscribe"])
    service.close()
  }

  /// Who wants values and alarms gets what the service knows of these.
  @Test(arguments: [["values"], ["alarms"], ["values", "alarms"]])
  func anOlderServiceWithoutAlarmsTellsTheRest(wanted: [String]) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    let unknown = #"!{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"alarms"}}"#
    let ready = [#"{"event":"ready","time":1}"#, "{}"]
    let service = try CannedService(
      at: path, ["Subscribe alarms": [unknown], "Subscribe values": ready, "Subscribe": ready])
    let client = try await BridgeClient.connect(to: path, replyTimeout: .seconds(60))
    let (values, alarms) = (wanted.contains("values"), wanted.contains("alarms"))
    var events = try await client.device("X1").events(values: values, alarms: alarms).makeAsyncIterator()
    #expect(try await events.next() == .ready)
    service.close()
  }

  /// The same of devices that it begins to open.
  @Test func anOlderServiceWithoutFoundDevicesTellsTheRest() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/socket"
    let unknown = #"!{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"found"}}"#
    let service = try CannedService(
      at: path, ["Subscribe found": [unknown], "Subscribe values": [#"{"event":"ready","time":1}"#, "{}"]])
    var events = try await BridgeClient.events(at: path, values: true, found: true).makeAsyncIterator()
    #expect(try await events.next() == .ready)
    #expect(service.calls.value == ["Subscribe", "Subscribe"])
    service.close()
  }

  @Test func filesPassBothWays() async throws {
    let sample = try await SampleServer()
    let device = try await BridgeClient.connect(to: sample.path, replyTimeout: .seconds(60)).device("X1")
    let got = Locked<[UInt8]>([])
    let carried = try await device.get("30", limit: 1 << 20, patience: .zero) { step throws(AccessoryError) in
      if case .piece(let bytes, let offset) = step { got.withLock { $0.insert(contentsOf: bytes, at: offset) } }
    }
    #expect(got.withLock { $0.count } == 30 * 1_024 && carried.md5 == "x" && carried.device == SampleBridge.device)
    var steps: [String] = []
    let sent = try await device.send(
      to: "x", size: 3, kind: .image, crc32: nil, patience: .zero
    ) { offset, count throws(AccessoryError) in
      Array([1, 2, 3][offset..<(offset + count)])
    } _: {
      steps.append("\($0)")
    }
    #expect(steps == ["arrived(0)", "interrupted", "arrived(3)"] && sent.resumptions == 1)
    await sample.server.close()
  }

  /// All that a service tells comes as a value; when the service ends the sequence throws, once.
  @Test(.timeLimit(.minutes(Patience.minutes(1))), arguments: [nil, "X1"]) func eventsEndWithAnError(device: String?)
    async throws
  {
    let sample = try await SampleServer()
    let events =
      if let device {
        try await BridgeClient.connect(to: sample.path).device(device).events()
      } else { try await BridgeClient.events(at: sample.path) }
    var iterator = events.makeAsyncIterator()
    var told: [BridgeEvent] = []
    for _ in Bridge.EventName.allCases { if let event = try await iterator.next() { told.append(event) } }
    let (x1, gone) = (SampleBridge.device, AccessoryError.disconnected("X1"))
    #expect(
      told == [
        .present(x1), .ready, .connected(x1), .disconnected(x1, gone),
        .battery(x1, SampleBridge.battery, SampleBridge.age),
        .status(x1, SampleBridge.status, SampleBridge.age), .requestFailed(x1, gone),
        .values(x1, SampleBridge.values.map(\.value), SampleBridge.age), .alarm(x1, SampleBridge.alarm, .raised),
        .found(x1), .changed(x1),
      ])
    if device == nil { await sample.server.close() }
    let error = await #expect(throws: AccessoryError.self) { try await iterator.next() }
    #expect(error?.kind == .disconnected && error?.message.contains("sends no more events") == true)
    #expect(try await iterator.next() == nil)
    await sample.server.close()
  }

  @Test func rawBytesAreLentToOneClient() async throws {
    let sample = try await SampleServer()
    let device = try await BridgeClient.connect(to: sample.path, replyTimeout: .seconds(60)).device(
      "X1", label: "my robot")
    let (facts, transport) = try await device.open()
    #expect(facts == SampleBridge.device && transport.label == "my robot")
    #expect(transport.output.offer([1, 2, 3]) == .accepted)
    var bytes: [UInt8] = []
    try await eventually("the bytes") {
      var piece: [UInt8] = []
      if case .bytes = transport.input.take(into: &piece) { bytes += piece }
      return bytes == [1, 2, 3]
    }
    let busy = await #expect(throws: AccessoryError.self) { try await device.open() }
    #expect(busy?.kind == .busy)
    await transport.close()
    await sample.server.close()
  }

  private static let device = #"{"id":"X1","path":"X1","source":"named","links":[],"ways":[],"initialized":true}"#

  /// What makes no sense as a whole is `badData`, though each field by itself is right.
  @Test(arguments: [
    ("Request", [#"{"device":D,"command":"echo","command_byte":1,"reply":{"payload_hex":"zz","payload_bytes":1}}"#]),
    ("Perform", [#"{"device":D,"replies":[]}"#]),
    ("Perform", [#"{"device":D,"replies":[{"command":"b","values":[]}]}"#]),
    ("GetFile", [#"{"event":"begin","size_bytes":1001}"#, "{}"]),
    ("GetFile", [#"{"event":"begin","size_bytes":1}"#, #"{"event":"piece","offset":0,"bytes_hex":"0000"}"#, "{}"]),
    ("GetFile", [#"{"event":"begin","size_bytes":9}"#, #"{"event":"piece","offset":1,"bytes_hex":"00"}"#, "{}"]),
    ("GetFile", [#"{"event":"begin","size_bytes":9}"#, #"{"event":"piece","offset":0}"#, "{}"]),
    ("GetFile", [#"{"event":"begin","size_bytes":9}"#, #"{"event":"done"}"#]),
    ("GetFile", [#"{"event":"piece","offset":0,"bytes_hex":"00"}"#, "{}"]),
    ("SendFile", [#"{"event":"wanted","transfer":"t","offset":9,"count_bytes":2}"#, "{}"]),
    ("SendFile", [#"{"event":"wanted","offset":0,"count_bytes":2}"#, "{}"]),
  ]) func answersThatMakeNoSenseAreBadData(method: String, answers: [String]) async throws {
    let directory = try TemporaryDirectory()
    let answers = answers.map { $0.replacing("D", with: Self.device) }
    let service = try CannedService(at: directory.path + "/socket", [method: answers])
    let device = try await BridgeClient.connect(to: directory.path + "/socket", replyTimeout: .seconds(60)).device("X1")
    let error = await #expect(throws: AccessoryError.self) {
      switch method {
      case "Request": _ = try await device.request("echo", payload: [])
      case "Perform": _ = try await device.perform([.init("a")], isAnswered: true)
      case "GetFile": _ = try await device.get("x", limit: 1_000, patience: .zero) { _ throws(AccessoryError) in }
      default:
        _ = try await device.send(to: "x", size: 10, kind: nil, crc32: nil, patience: .zero) {
          offset, count throws(AccessoryError) in
          Issue.record("\(count) bytes at \(offset) were wanted")
          return []
        } _: { _ in
        }
      }
    }
    #expect(error?.kind == .badData)
    service.close()
  }

  /// A service that doesn't answer.
  @Test func aSilentServiceTimesOut() async throws {
    let directory = try TemporaryDirectory()
    let service = try CannedService(at: directory.path + "/socket", ["Battery": []])
    let client = try await BridgeClient.connect(to: directory.path + "/socket", replyTimeout: .milliseconds(50))
    let error = await #expect(throws: AccessoryError.self) {
      try await client.device("X1").read() as Read<BatteryReading>
    }
    #expect(error?.kind == .timedOut)
    service.close()
  }
}

/// The shapes in which readings are written: each in one place, for the interface and for JSON documents.
@Suite("Reading shapes") struct ReadingShapeTests {
  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSON(encoding: value).bytes, as: UTF8.self)
  }

  /// What is read from the text of a value, as the interface and as documents have it.
  private func again<Value: Codable & Equatable>(_ value: Value) throws -> Value {
    let read: Value = try JSON(encoding: value).decoded()
    #expect(try JSON(encoding: WithNulls(value)).decoded() == read)
    return read
  }

  private func read<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
    try JSON(Array(json.utf8)).decoded()
  }

  @Test func aBatteryIsWrittenAndReadBack() throws {
    for level in BatteryReading.Level.allCases {
      for charge in BatteryReading.Charge.allCases {
        let told = BatteryReading(percent: 57, level: level, millivolts: 3_700, milliamperes: -12, charge: charge)
        #expect(try again(told) == told)
      }
    }
    var whole = BatteryReading(percent: 57, millivolts: 52_000, milliamperes: -1_500, charge: .discharging)
    (whole.timeToEmpty, whole.timeToFull) = (.seconds(3_600), .seconds(60))
    whole.temperatures = [.init(24_950, name: "MOS"), .init(nil)]
    whole.cellMillivolts = [3_300, nil]
    (whole.remainingMilliampereHours, whole.fullMilliampereHours) = (40_000, 100_000)
    (whole.cycles, whole.healthPercent, whole.milliwatts) = (12, 98, -78_000)
    (whole.faults, whole.warnings) = ([], ["cell overvoltage"])
    whole.derived.insert(.percent)
    #expect(try again(whole) == whole)
    #expect(
      try text(whole)
        == #"{"cells_mv":[3300,null],"charge":"discharging","current_ma":-1500,"cycles":12,"#
        + #""derived":["level","percent"],"faults":[],"full_mah":100000,"health_percent":98,"level":"normal","#
        + #""level_origin":"derived","percent":57,"power_mw":-78000,"remaining_mah":40000,"#
        + #""temperatures":[{"name":"MOS","temperature_mc":24950},{"name":null,"temperature_mc":null}],"#
        + #""time_to_empty_s":3600,"time_to_full_s":60,"voltage_mv":52000,"warnings":["cell overvoltage"]}"#)
    #expect(try JSON(encoding: WithNulls(whole)).fields?.filter { $1 != .null } == JSON(encoding: whole).fields)
    let least = BatteryReading()
    #expect(try again(least) == least)
    #expect(try text(least) == #"{"charge":"unknown","level":"unknown","level_origin":"reported"}"#)
    #expect(try text(WithNulls(least)) == BatteryReading.document())
    let most = BatteryReading(percent: 5, millivolts: 3_700, milliamperes: -1, charge: .notCharging)
    #expect(
      try text(most) == #"{"charge":"not_charging","current_ma":-1,"derived":["level"],"level":"critical","#
        + #""level_origin":"derived","percent":5,"voltage_mv":3700}"#)
  }

  @Test func aStatusIsWrittenAndReadBack() throws {
    for state in AccessoryState.allCases {
      let told = AccessoryStatus(state: state, faultCode: 7, progress: 9)
      #expect(try again(told) == told)
    }
    let least = AccessoryStatus()
    #expect(try text(least) == #"{"reports_faults":false}"#)
    #expect(
      try text(WithNulls(least))
        == #"{"fault_code":null,"progress_percent":null,"reports_faults":false,"state":null}"#)
    #expect(try again(least) == least)
    // Earlier versions said not_initialized whenever they didn't know.
    #expect(try read(#"{"state":"not_initialized"}"#) == AccessoryStatus())
    #expect(try read(#"{"state":"idle"}"#) == AccessoryStatus(state: .idle, reportsFaults: true))
  }

  /// A text that isn't known is empty in the interface, and null in documents.
  @Test func anIdentityIsWrittenAndReadBack() throws {
    let told = AccessoryIdentity(manufacturer: "Acme", name: "Lamp", serialNumber: "7", firmwareRevision: "1.2")
    #expect(try again(told) == told)
    #expect(
      try text(told)
        == #"{"firmware":"1.2","hardware":"","manufacturer":"Acme","model":"","name":"Lamp","serial":"7"}"#)
    #expect(
      try text(WithNulls(told))
        == #"{"firmware":"1.2","hardware":null,"manufacturer":"Acme","model":null,"name":"Lamp","serial":"7"}"#)
    #expect(try read("{}") == AccessoryIdentity())
  }

  /// Numbers, lists and texts beyond the limits are rejected by the name of their field.
  @Test(arguments: [
    (#""percent":101"#, "percent can't be 101"), (#""time_to_empty_s":-1"#, "time_to_empty_s can't be -1"),
    (#""voltage_mv":1000000001"#, "voltage_mv can't be 1000000001"), (#""cycles":-1"#, "cycles can't be -1"),
    (#""cells_mv":[1,2000000000]"#, "cells_mv can't be 2000000000"),
    (#""temperatures":[{"temperature_mc":-273151}]"#, "temperature_mc can't be -273151"),
    (#""faults":["\#(String(repeating: "x", count: 65))"]"#, "the length of faults can't be 65"),
    (
      #""derived":[\#(Array(repeating: "1", count: 256).map { "\"\($0)\"" }.joined(separator: ","))]"#,
      "the number of derived can't be 256"
    ),
  ])
  func readingsBeyondTheirLimitsAreRefused(field: String, problem: String) throws {
    let error = #expect(throws: ReplyNumberError.self) {
      try read(#"{"level":"low","level_origin":"reported","charge":"full",\#(field)}"#, as: BatteryReading.self)
    }
    #expect(error?.description == problem)
    #expect(throws: ReplyNumberError.self) { try read(#"{"progress_percent":101}"#, as: AccessoryStatus.self) }
  }

  /// A value of each kind; null is written in documents, and left out in the interface.
  @Test func valuesOfEachKindAreWrittenAndReadBack() throws {
    let told: [(AccessoryValue, String)] = [
      (
        AccessoryValue("pv_voltage", quantity: .voltage, unit: .volt, number: 36.2),
        #"{"derived":false,"importance":"shown","kind":"number","name":"pv_voltage","number":36.2,"quantity":"voltage","unit":"V"}"#
      ),
      (
        AccessoryValue("count", number: 12),
        #"{"derived":false,"importance":"detail","kind":"number","name":"count","number":12}"#
      ),
      (
        AccessoryValue("serial", quantity: .identity, content: .text("X1")),
        #"{"derived":false,"importance":"identity","kind":"text","name":"serial","quantity":"identity","text":"X1"}"#
      ),
      (
        AccessoryValue("relay", content: .flag(false), isDerived: true),
        #"{"derived":true,"flag":false,"importance":"detail","kind":"flag","name":"relay"}"#
      ),
      (
        AccessoryValue("mode", quantity: .state, content: .choice(word: "bulk", number: 3)),
        #"{"derived":false,"importance":"detail","kind":"choice","name":"mode","number":3,"quantity":"state","text":"bulk"}"#
      ),
      (
        AccessoryValue("ac_load", unit: .percent, role: "ups.load", content: .number(12)),
        #"{"derived":false,"importance":"headline","kind":"number","name":"ac_load","number":12,"role":"ups.load","unit":"%"}"#
      ),
      (
        AccessoryValue("pv_power", quantity: .power, unit: .watt, content: nil),
        #"{"derived":false,"importance":"shown","kind":"unknown","name":"pv_power","quantity":"power","unit":"W"}"#
      ),
    ]
    for (value, json) in told {
      #expect(try text(Read(value)) == json)
      // Documents leave roles out.
      var shown = value
      shown.role = nil
      #expect(try again(shown) == shown)
      let read: AccessoryValue = try JSON(encoding: value).decoded()
      #expect(read == value)
    }
    #expect(
      try text(WithNulls(Read(told[1].0, age: .milliseconds(7))))
        == #"{"age_ms":7,"derived":false,"flag":null,"importance":"detail","kind":"number","name":"count","number":12,"quantity":null,"#
        + #""stale":false,"text":null,"unit":null}"#)
    let old = Read(told[0].0, age: .milliseconds(7), isStale: true)
    #expect(try again(old) == old)
  }

  /// What a newer service may say.
  @Test func unknownWordsOfANewerServiceAreUnknownValues() throws {
    #expect(try read(#"{"level":"x","level_origin":"y","charge":"z"}"#) == BatteryReading())
    #expect(try read(#"{"state":"x"}"#, as: AccessoryStatus.self).state == nil)
    let words = #"{"level":"low","level_origin":"reported","charge":"full","derived":["percent","z"]}"#
    #expect(try read(words, as: BatteryReading.self).derived == [.percent])
    #expect(try read(#"{"name":"a","kind":"z","number":1}"#) == AccessoryValue("a", content: nil))
    let half = #"{"name":"a","kind":"choice","text":"b","number":1.5}"#
    #expect(try read(half, as: AccessoryValue.self).content == nil)
    #expect(throws: ReplyNumberError.self) {
      try read(#"{"name":"a","kind":"z","age_ms":-1}"#, as: Read<AccessoryValue>.self)
    }
  }
}
