// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// `values`, and what `battery` shows of batteries that tell more.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ValuesTests {
  private static let device =
    #"{"id":"X1","path":"/dev/null","source":"named","serial":"X1","links":[],"ways":[],"initialized":true}"#
  private static let list = #"{"accessories":[{"device":\#(device),"state":"attached","tries":0,"driver":"framed"}]}"#

  /// Runs a command beside a service that gives these answers.
  private func run(_ arguments: String..., beside answers: [String: [String]]) async throws -> Program.Transcript {
    var ended: Program.Transcript?
    try await Sandbox.with { box in
      let place = box.directory.path + "/socket"
      let service = try CannedService(at: place, answers.merging(["List": [Self.list]]) { $1 })
      defer { service.close() }
      ended = try await box.run(arguments, environment: ["ACCESSORY_BRIDGE_SOCKET": place])
    }
    return try #require(ended)
  }

  @Test func valuesOfABrickAreListed() async throws {
    try await Sandbox.with { box in
      let brick = try await box.simulate(kind: "ev3", "--link", "./ev3")
      let all = try await box.run("values")
      #expect(all.status == 0 && all.errorText == "")
      #expect(all.lines.first?.split(separator: " ") == ["name", "value", "unit"])
      #expect(all.lines.contains { $0.split(separator: " ") == ["internal_current", "0.18", "A"] })
      #expect(all.lines.contains { $0.split(separator: " ") == ["warning_busy", "no"] })
      let some = try await box.run("values", "EV3", "port_4", "port_4_device")
      #expect(
        some.lines == ["name           value       unit", "port_4_device  ultrasonic", "port_4         50          cm"])
      let document = try await box.run("values", "EV3", "port_4", "--json").json()
      #expect(document["schema"] == "accessory-bridge/2" && document["device"]?["serial"] == "001653000001")
      #expect(
        document["values"] == [
          [
            "name": "port_4", "kind": "number", "quantity": "distance", "unit": "cm", "number": 50, "text": nil,
            "flag": nil, "importance": "shown", "derived": false, "age_ms": 0, "stale": false,
          ]
        ])
      let wrong = try await box.run("values", "EV3", "port_5")
      #expect(wrong.status == EX_USAGE && wrong.outputText == "")
      #expect(wrong.errorText.contains("there is no value port_5: did you mean port_1, port_3 or port_4?"))
      try await brick.stop()
    }
  }

  /// The same through the service; while another program has it, with ages.
  @Test func valuesComeThroughTheService() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--state", "busy", "--progress", "40")
      let alone = try await box.run("values", "--json").json()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let held = try await box.run("values", "--json").json()
      let number = alone["values"]?[2]
      #expect(number?["name"] == "progress" && number?["number"] == 40 && held["values"]?[2] == number)
      let text = try await box.run("values", "SIM0001", "progress", "state")
      #expect(text.lines == ["name      value  unit", "state     busy", "progress  40     %"])
      let (_, transport) = try await ControlClient.connect(to: box.socket).upgrade(Bridge.Open())
      let lent = try await box.run("values", "SIM0001", "progress")
      #expect(lent.status == 0 && lent.lines.first?.split(separator: " ") == ["name", "value", "unit", "age"])
      #expect(lent.lines.last?.hasPrefix("progress  40     %     ") == true && lent.lines.last?.hasSuffix(" s") == true)
      await transport.close()
      service.signal(SIGTERM)
      _ = try await service.end()
      try await simulator.stop()
    }
  }

  /// What changes is printed again, and nothing else: asked for here, and told by a service.
  @Test func onlyChangedValuesArePrintedAgain() async throws {
    let states = Watched<[UInt8]>([0, 0, 0, 0xFF])
    let accessory = ScriptedAccessory { $0.command == .status ? .reply(states.value) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let watch = try box.start(
        "values", terminal.path, "--driver", "framed", "state", "progress", "--watch", "--poll", "5ms")
      _ = try await watch.lines(3)
      let count = accessory.requests.value.count
      try await accessory.requests.wait { $0.count > count + 3 }
      states.update { $0 = [1, 7, 0, 40] }
      // The fault code, which wasn't asked for, isn't shown.
      #expect(
        try await watch.lines(5) == [
          "name      value  unit", "state     idle", "progress  -      %", "state            busy",
          "progress         40 %",
        ])
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
    }
    await terminal.transport.close()
    let event =
      #"{"event":"values","time":1,"device":\#(Self.device),"values":[\#(Self.value("u", 13)),\#(Self.value("i", 2))]}"#
    let told = try await run(
      "values", "X1", "u", "--watch", "--once",
      beside: [
        "Values": [#"{"device":\#(Self.device),"values":[\#(Self.value("u", 12)),\#(Self.value("i", 1))]}"#],
        "Subscribe values": [#"{"event":"ready","time":1}"#, event, event, "{}"],
      ])
    #expect(told.lines == ["name  value  unit", "u     12     V", "u  13 V"], "\(told.errorText)")
    #expect(told.status == EX_DATAERR || told.status == EX_UNAVAILABLE)
  }

  /// The exit status of a watching command doesn't depend on the moment of Ctrl-C.
  @Test func ctrlCDuringARequestEndsAsBetweenTwo() async throws {
    let count = Watched(0)
    let accessory = ScriptedAccessory { request in
      guard request.command == .status else { return .silence }
      return count.update({ number in
        number += 1
        return number
      }) == 1 ? .reply([0, 0, 0, 0xFF]) : .silence
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let watch = try box.start("values", terminal.path, "--driver", "framed", "state", "--watch", "--poll", "5ms")
      _ = try await count.wait { $0 > 1 }
      watch.signal(SIGINT)
      let ended = try await watch.end()
      #expect(ended.status == 0, "\(ended.errorText)")
    }
    await terminal.transport.close()
  }

  private static func value(_ name: String, _ number: Int) -> String {
    #"{"name":"\#(name)","kind":"number","number":\#(number),"unit":"V"}"#
  }

  /// Names, words and units of an accessory are a stranger's.
  @Test func hostileNamesOfValuesAreEscaped() async throws {
    let text = #"\u001b[31m\n"#
    let ended = try await run(
      "values", "X1",
      beside: [
        "Values": [
          #"{"device":\#(Self.device),"values":[{"name":"\#(text)","kind":"text","text":"\#(text)","derived":true},"#
            + #"{"name":"b","kind":"number","number":1.5,"unit":"\#(text)","age_ms":61000},{"name":"c","kind":"new"}]}"#
        ]
      ])
    #expect(ended.status == 0)
    #expect(
      ended.lines == [
        #"name             value            unit             age         origin"#,
        #"b                1.5              \u{1b}[31m\u{a}  1 min 01 s"#,
        #"\u{1b}[31m\u{a}  \u{1b}[31m\u{a}                               derived"#,
        "c                -",
      ])
  }

  @Test(arguments: [
    (["values", "--poll", "1s"], "--poll needs --watch"), (["values", "--watch", "--poll", "0ms"], "at least 1ms"),
  ]) func wrongUseOfValuesIsAnError(arguments: [String], expectation: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(arguments)
      #expect(ended.status == EX_USAGE && ended.errorText.contains(expectation))
    }
  }

  /// A service that doesn't know values yet: the command says so, and what to do.
  @Test func anOlderServiceKnowsNoValues() async throws {
    let ended = try await run(
      "values", "X1",
      beside: ["GetInfo": [#"{"vendor":"","product":"Accessory Bridge","version":"0.1.0","url":"","interfaces":[]}"#]])
    #expect(ended.status == EX_UNAVAILABLE)
    #expect(ended.errorText.contains("(Accessory Bridge 0.1.0) doesn't know Values"), "\(ended.errorText)")
  }

  // MARK: - Batteries that tell more

  private static let battery =
    #"{"level":"normal","level_origin":"reported","charge":"discharging","percent":57,"voltage_mv":13212,"#
    + #""current_ma":-1500,"time_to_empty_s":12000,"temperatures":[{"name":"MOS","temperature_mc":31000},"#
    + #"{"temperature_mc":24950},{}],"cells_mv":[3301,null,3345,3300],"remaining_mah":40000,"full_mah":100000,"#
    + #""cycles":12,"health_percent":98,"faults":[],"warnings":["cell overvoltage","\u001b[31m"],"derived":["percent"]}"#

  private static let details = [
    "57 %  normal  13.212 V  -1.500 A  discharging", "Power          -19.8 W", "Time to empty  3 h 20 min",
    "Temperature    MOS 31 °C, 24.95 °C, -", "Cells          4, 3.300 V to 3.345 V, 45 mV apart, 1 not known",
    "Capacity       40 of 100 Ah", "Cycles         12", "Health         98 %", "Faults         none",
    #"Warnings       cell overvoltage, \u{1b}[31m"#,
  ]

  @Test func everyFieldOfABatteryIsPrinted() async throws {
    let answers = ["Battery": [#"{"device":\#(Self.device),"battery":\#(Self.battery)}"#]]
    #expect(try await run("battery", "X1", beside: answers).lines == Self.details)
    let document = try await run("battery", "X1", "--json", beside: answers).json()["battery"]
    #expect(document?["cells_mv"] == [3301, nil, 3345, 3300] && document?["faults"] == [])
    #expect(document?["temperatures"]?[2] == ["name": nil, "temperature_mc": nil])
    #expect(document?["time_to_full_s"] == .null && document?["derived"] == ["percent"])
  }

  /// On a terminal that is wide enough, all cells are listed.
  @Test(arguments: [(100, true), (33, false), (34, true)])
  func cellsAreListedOnAWideTerminal(columns: Int, isListed: Bool)
    async throws
  {
    try await Sandbox.with { box in
      mkdir(box.runtime.path + "/accessory-bridge", 0o700)
      let service = try CannedService(
        at: box.socket, ["List": [Self.list], "Battery": [#"{"device":\#(Self.device),"battery":\#(Self.battery)}"#]])
      defer { service.close() }
      let terminal = try box.sit(["battery", "X1"], columns: columns)
      #expect(try await terminal.end() == 0)
      let text = terminal.state.value.text
      #expect(text.contains("Cell voltages  3.301 - 3.345 3.300") == isListed, "\(text)")
      #expect(text.contains("Health"))
    }
  }
}
