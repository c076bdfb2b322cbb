// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryFleet

/// The documents on the topics of a fleet.
struct DocumentTests {
  private static func device() -> Device {
    Device(id: "SIM0001", path: "/dev/ttyUSB0", source: .udev, name: "Lamp", serialNumber: "SIM0001")
  }

  private static func state() -> FleetState {
    var held = Bridge.Accessory(device: device(), state: .waiting, tries: 2, profile: "framed", driver: "framed")
    held.tries_limit = 3
    held.next_try_ms = 1_500
    held.writes = .refused
    held.stale = true
    held.problem = Bridge.Problem(AccessoryError(.timedOut, "no answer"))
    var state = FleetState(device(), record: held, connected: false, stale: true, at: 1_790_000_000.5)
    state.identity = AccessoryIdentity(
      manufacturer: "Acme", name: "Lamp", serialNumber: "SIM0001", firmwareRevision: "1.2")
    state.status = AccessoryStatus(state: .busy, progress: 40)
    state.statusTime = MonotonicTime(since1970: 1_790_000_000)
    state.battery = BatteryReading(percent: 57, millivolts: 3_712, charge: .charging)
    state.battery?.cellMillivolts = [3_700, nil]
    state.batteryTime = MonotonicTime(since1970: 1_790_000_000.25)
    state.problem = AccessoryError(.disconnected, code: .errno(19), "SIM0001 was disconnected")
    return state
  }

  /// A state is read as it was written.
  @Test
  func aStateIsReadAsItWasWritten() throws { #expect(try FleetState(Self.state().bytes) == Self.state()) }

  private static func alarm(_ name: String = "low", value: String = "12 %") -> AccessoryAlarm {
    AccessoryAlarm(name: name, rule: "battery < 20 %", since: 1_790_000_000, value: value, number: 12, unit: "%")
  }

  /// Alarms are read as they were written, also as events; a gateway of an older version has none.
  @Test
  func alarmsAreReadAsTheyWereWritten() throws {
    var state = Self.state()
    let before = try FleetState(state.bytes)
    #expect(before.alarms == nil && before.record?.alarms == nil)
    state.alarms = [Self.alarm(), Self.alarm("very low")]
    state.record?.alarms = [Self.alarm(), Self.alarm("very low")]
    #expect(try FleetState(state.bytes) == state, "the service's record has them, too")
    let raised = try #require(
      FleetEvent(Bridge.Event(.alarm, time: 1, device: Self.device(), alarm: Self.alarm(), state: .cleared)))
    #expect(try FleetEvent(raised.bytes) == raised && raised.event.state == .cleared)
  }

  /// However long the texts of alarms are, a state is within the limit of those who read it.
  @Test
  func aStateWithManyAlarmsIsWithinItsLimit() throws {
    var state = Self.state()
    let long = String(repeating: "é", count: 200)
    state.alarms = (0..<32).map { number in
      AccessoryAlarm(
        name: "\(number)" + long.dropLast(2), rule: long, since: 1, value: String(repeating: "\u{7}", count: 1_000))
    }
    #expect(state.bytes.count < FleetLimits.documentBytes)
    let read = try FleetState(state.bytes)
    #expect((1..<32).contains(read.alarms?.count ?? 0))
    for hostile in [
      #"[{"name": "a"}]"#, #""fault""#, "[" + Array(repeating: "{}", count: 33).joined(separator: ",") + "]",
      #"[{"name": "\#(String(repeating: "a", count: 500))", "rule": "b", "since": 1}]"#,
      #"[{"name": "a", "rule": "b", "since": -1}]"#,
    ] {
      let text = String(decoding: Self.state().bytes, as: UTF8.self).replacing(
        #""alarms":null"#, with: #""alarms":\#(hostile)"#)
      #expect(throws: FleetDocumentError.self) { try FleetState(Array(text.utf8)) }
    }
  }

  /// The raised alarms that a service reports, one after another.
  @Test
  func raisedAlarmsAreKeptUntilTheyAreCleared() {
    var alarms: [AccessoryAlarm] = []
    alarms.take(Self.alarm(), .raised)
    alarms.take(Self.alarm(value: "11 %"), .raised)
    #expect(alarms.map(\.value) == ["11 %"])
    for number in 0..<40 { alarms.take(Self.alarm("\(number)"), .raised) }
    #expect(alarms.count == 32)
    alarms.take(Self.alarm("3"), .cleared)
    #expect(alarms.count == 31)
    alarms.take(Self.alarm("3"), .cleared)
    #expect(alarms.count == 31)
  }

  /// A state has the fields of the commands' JSON, and an unknown one is null.
  @Test
  func aStateHasTheFieldsOfTheCommands() throws {
    let fields = try #require(try JSON(Self.state().bytes).fields)
    #expect(fields["schema"] == .string("accessory-bridge-mqtt/1") && fields["document"] == .string("state"))
    #expect(fields["battery"]?.fields?["percent"] == .int(57))
    #expect(fields["battery"]?.fields?["current_ma"] == .null)
    #expect(fields["status"]?.fields?["fault_code"] == .null)
    #expect(fields["device"]?.fields?["service"]?.fields?["problem"]?.fields?["kind"] == .string("timed_out"))
    #expect(fields["problem"]?.fields?["exit_status"] == .int(69))
    var unknown = Self.state()
    unknown.status = AccessoryStatus()
    #expect(try JSON(unknown.bytes).fields?["status"]?.fields?["state"] == .null)
    #expect(try FleetState(unknown.bytes).status == AccessoryStatus())
    let empty = FleetState(Self.device(), connected: true, at: 1)
    #expect(try JSON(empty.bytes).fields?["battery"] == .null)
    #expect(try FleetState(empty.bytes) == empty)
  }

  /// What only matters on the gateway isn't published.
  @Test
  func accessAndInterfacesAreNotPublished() throws {
    var device = Self.device()
    device.usb = USBIdentity(
      vendorID: 0x2341, productID: 0x43, bus: 1, address: 4, node: "/dev/bus/usb/001/004", port: "1-1",
      interfaces: [])
    let endpoints = [0x81, 0x02].map { address in
      USBEndpointDescription(
        address: address, transfer: .bulk, maxPacketSize: 64, packetsPerInterval: 1, interval: 0)
    }
    device.usb?.interfaces = [
      USBInterface(
        description: USBInterfaceDescription(
          number: 0, alternateSetting: 0, function: USBClass(code: 2, subclass: 2, protocol: 1), endpoints: endpoints))
    ]
    device = Device(
      id: device.id, path: device.path, source: device.source, terminal: device.path, ways: ["tty", "usb"],
      usb: device.usb)
    #expect(device.transports == [.terminal, .usb])
    let read = try FleetState(FleetState(device, connected: true, at: 1).bytes).device
    #expect(read.usb?.interfaces == [] && read.usb?.vendorID == 0x2341)
    // That both ways lead to the accessory stays known.
    #expect(read.id == device.id && read.ways == ["tty", "usb"])
  }

  /// A later version's fields are ignored.
  @Test
  func fieldsOfALaterVersionAreIgnored() throws {
    guard case .object(var fields) = try JSON(Self.state().bytes) else { return #expect(Bool(false)) }
    fields["weather"] = .string("fine")
    #expect(try FleetState(JSON.object(fields).bytes) == Self.state())
  }

  /// A state that breaks its form or its limits is refused.
  @Test(arguments: [
    "", "null", "[]", "{}", "{\"device\":{}}", "{\"time\":1,\"connected\":true}",
    "{\"time\":-1,\"connected\":true,\"device\":D}", "{\"time\":1e99,\"connected\":true,\"device\":D}",
    "{\"time\":1,\"connected\":1,\"device\":D}", "{\"time\":1,\"connected\":true,\"device\":[]}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"battery\":{\"percent\":101}}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"battery\":{\"level\":\"low\",\"level_origin\":\"reported\",\"charge\":\"full\",\"percent\":101}}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"status\":{\"state\":7}}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"identity\":{\"name\":7}}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"battery_time\":\"now\"}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"problem\":{}}",
    "{\"time\":1,\"connected\":true,\"device\":D,\"problem\":{\"message\":\"m\",\"errno\":-1}}",
    "{\"time\":1,\"time\":1,\"connected\":true,\"device\":D}",
  ])
  func aStateOfAnotherFormIsRefused(text: String) {
    let device =
      "{\"id\":\"a\",\"path\":\"/dev/a\",\"source\":\"udev\",\"links\":[],\"ways\":[],\"initialized\":true}"
    let parts = text.split(separator: "D", omittingEmptySubsequences: false)
    let document = parts.joined(separator: device)
    #expect(throws: FleetDocumentError.self) { try FleetState(Array(document.utf8)) }
  }

  /// What a service says of an accessory has limits, too, and what no gateway publishes is left out.
  @Test
  func theServicesRecordHasLimits() throws {
    let whole = String(decoding: Self.state().bytes, as: UTF8.self)
    func read(_ old: String, _ new: String) throws -> FleetState {
      #expect(whole.contains(old))
      return try FleetState(Array(whole.replacing(old, with: new).utf8))
    }
    let long = String(repeating: "x", count: FleetLimits.textBytes + 1)
    #expect(throws: FleetDocumentError.self) { try read(#""profile":"framed""#, #""profile":"\#(long)""#) }
    #expect(throws: FleetDocumentError.self) { try read(#""tries_limit":3"#, #""tries_limit":-3"#) }
    #expect(throws: FleetDocumentError.self) { try read(#""state":"waiting""#, #""state":"sleeping""#) }
    #expect(throws: FleetDocumentError.self) { try read(#""service":{"#, #""service":[],"former":{"#) }
    #expect(try read(#""writes":"refused""#, #""writes":"sometimes""#).record?.writes == nil)
    #expect(try read(#""tries":2"#, #""tries":2,"protocols":["com.example.a"]"#) == Self.state())
  }

  /// Long texts, long documents and deep ones are refused.
  @Test
  func aStateThatIsTooLongIsRefused() {
    var state = Self.state()
    state.device.name = String(repeating: "x", count: FleetLimits.textBytes + 1)
    #expect(throws: FleetDocumentError.self) { try FleetState(state.bytes) }
    #expect(throws: FleetDocumentError.self) {
      try FleetState([UInt8](repeating: UInt8(ascii: " "), count: FleetLimits.documentBytes + 1))
    }
    #expect(throws: FleetDocumentError.self) {
      try FleetState(Array((String(repeating: "[", count: 10_000)).utf8))
    }
    #expect(throws: FleetDocumentError.self) { try FleetState([0xFF, 0xFE, 0x00]) }
  }

  /// Ages are never negative, and don't overflow.
  @Test(arguments: [(nil, 5, nil), (4.5, 5, 500), (6, 5, 0), (0, .greatestFiniteMagnitude, 4_294_967_295_000)])
  func agesAreNeverNegativeAndDoNotOverflow(read: Double?, now: Double, age: Int?) {
    var state = Self.state()
    state.batteryTime = read.map(MonotonicTime.init(since1970:))
    #expect(state.accessory.battery(at: MonotonicTime(since1970: now))?.age?.inMilliseconds == age)
  }

  /// A time in a document is read and written without a change, whatever digits another version gives it.
  @Test(arguments: [0, 1, 1_790_000_000.123, 1_790_000_000.0884328, 107.1, 4_294_967_295, 1_700_000_000.9999998])
  func timesAreReadAndWrittenUnchanged(seconds: Double) {
    #expect(MonotonicTime(since1970: seconds).since1970 == seconds)
  }

  /// Values are read as they were written, and grow older.
  @Test
  func valuesAreReadAsWrittenAndGrowOlder() throws {
    let values = FleetValues(
      Self.device(),
      [
        Read(AccessoryValue("port_4", quantity: .distance, unit: .centimetre, number: 50), age: .milliseconds(20)),
        Read(AccessoryValue("mode", quantity: .state, content: .choice(word: "blue", number: 2))),
        Read(AccessoryValue("lid", content: .flag(true))),
        Read(AccessoryValue("unknown", quantity: .voltage, unit: .volt, content: nil)),
      ], at: 100)
    let read = try FleetValues(values.bytes)
    #expect(read.values.map(\.value) == values.values.map(\.value))
    #expect(read.values(now: 101.5).map(\.age) == [1_520, 1_500, 1_500, 1_500].map { .milliseconds($0) })
    #expect(read.device == Self.device())
  }

  /// Too many values, and two of one name, are refused.
  @Test
  func tooManyOrEqualValuesAreRefused() {
    func values(_ names: [String]) -> [UInt8] {
      FleetValues(Self.device(), names.map { Read(AccessoryValue($0, number: 1)) }, at: 1).bytes
    }
    #expect(throws: Never.self) { try FleetValues(values((0..<255).map { "v\($0)" })) }
    #expect(throws: FleetDocumentError.self) { try FleetValues(values((0..<256).map { "v\($0)" })) }
    #expect(throws: FleetDocumentError.self) { try FleetValues(values(["a", "a"])) }
    #expect(throws: FleetDocumentError.self) { try FleetValues(values([String(repeating: "n", count: 65)])) }
  }

  /// Events and the facts of a gateway are read as they were written.
  @Test
  func eventsAreReadAsTheyWereWritten() throws {
    var event = Bridge.Event(.disconnected, time: 7, device: Self.device())
    event.problem = Bridge.Problem(AccessoryError(.disconnected, "gone"))
    let own = try #require(FleetEvent(event))
    #expect(try FleetEvent(own.bytes) == own)
    #expect(try JSON(own.bytes).fields?["problem"]?.fields?["kind"] == .string("disconnected"))
    #expect(FleetEvent(Bridge.Event(.ready, time: 1)) == nil)
    var values = Bridge.Event(.values, time: 7, device: Self.device())
    values.values = [Read(AccessoryValue("a", number: 2))]
    #expect(
      try FleetEvent(try #require(FleetEvent(values)).bytes).event.values?.map(\.value) == [
        AccessoryValue("a", number: 2)
      ])
    let info = GatewayInfo(TopicLevel(naming: "attic"), host: "attic", version: "0.1.0", at: 3)
    #expect(try GatewayInfo(info.bytes) == info)
    #expect(throws: FleetDocumentError.self) { try GatewayInfo(Array("{\"gateway\":\"a/b\",\"time\":1}".utf8)) }
  }

  /// What simulated accessories of each kind tell is read and written without a change.
  @Test(arguments: KnownKind.names)
  func documentsOfEachKindAreReadAsWritten(name: String) throws {
    let kind = try KnownKind(name)
    #expect(try FleetState(kind.state.bytes) == kind.state)
    #expect(try FleetValues(kind.values.bytes) == kind.values)
  }

  /// Earlier gateways call the same documents `accessory-bridge/2`, and don't say which they are.
  @Test(arguments: KnownKind.names)
  func documentsOfEarlierPublishersAreRead(name: String) throws {
    let kind = try KnownKind(name)
    func earlier(_ bytes: [UInt8]) throws -> [UInt8] {
      var fields = try #require(try JSON(bytes).fields)
      (fields["schema"], fields["document"]) = (.string("accessory-bridge/2"), nil)
      return JSON.object(fields).bytes
    }
    #expect(try FleetState(earlier(kind.state.bytes)) == kind.state)
    #expect(try FleetValues(earlier(kind.values.bytes)) == kind.values)
  }

  /// The files of the kinds are what is published, and each document is one of those that the schema describes. `make wire` adds to them
  /// what is published since.
  @Test(arguments: KnownKind.names)
  func theFilesAreWhatIsPublished(name: String) throws {
    let kind = try KnownKind(name)
    let published = JSON.object(["state": try JSON(kind.state.bytes), "values": try JSON(kind.values.bytes)])
    if MadeFile.isRenewing {
      try TestFile.write(Indented.text(published, step: " ", isOpen: true) + "\n", to: "Kinds/\(name).json")
    }
    #expect(try JSON(TestFile.read("Kinds/\(name).json")) == published)
  }

  /// The schema has a document of each kind, by the word that is published.
  @Test
  func theSchemaHasEachKind() throws {
    let root = try JSON(SmallFile.read(ProjectFolder.path + "/Documentation/schema/mqtt-1.schema.json", limit: 1 << 20))
    let words = (root.fields?["$defs"]?.fields ?? [:]).compactMap { _, definition in
      definition.fields?["properties"]?.fields?["document"]?.fields?["const"]?.text
    }
    #expect(Set(words) == Set(FleetDocuments.Kind.allCases.map(\.rawValue)))
    let failure = FleetResult(.failure(AccessoryError(.busy, "no")), id: nil, at: 1)
    #expect(try JSON(failure.bytes).fields?["document"] == .string("error"))
    #expect(try JSON(FleetResult(.success([]), id: nil, at: 1).bytes).fields?["document"] == .string("result"))
  }
}
