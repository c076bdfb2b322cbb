// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryExport

/// Conversations with a client of NUT's protocol.
struct NUTSessionTests {
  /// What a session answers to these lines; the last answer ends in "(end)" where the connection is closed.
  private func talk(
    _ lines: String..., to readings: ReadingsSnapshot = .sample(), ups: [String] = [], users: String? = nil,
    names: [(String, String)] = [], limits: [(String?, String)] = [], logins: [ExportLogin] = []
  ) throws -> [String] {
    var configuration = NUTSession.Configuration(upses: ups, version: "1.2.3")
    configuration.names = names.map { .init(name: $0.0, device: $0.1) }
    configuration.limits = try limits.map { .init(name: $0.0, limit: try #require(LowLimit($0.1))) }
    configuration.find = { (name, there, gone) throws(NUTSession.AmbiguousName) in
      let found = (there + gone).filter { $0.id.hasPrefix(name) || $0.path == name }
      guard found.count < 2 else { throw NUTSession.AmbiguousName() }
      return found.first
    }
    if let users { configuration.users = try NUTUsers(Array(users.utf8)) }
    var session = NUTSession(configuration, address: "127.0.0.1")
    session.take(Array(lines.joined(separator: "\n").utf8) + [10])
    var answers: [String] = []
    while let request = session.next() {
      let answer = session.answer(request, from: readings, logins: logins + [session.login].compactMap { $0 })
      answers.append(String(decoding: answer.bytes, as: UTF8.self) + (answer.isLast ? "(end)" : ""))
      if answer.isLast { break }
    }
    return answers
  }

  @Test func aSessionTellsItsVersions() throws {
    #expect(
      try talk("VER", "NETVER", "PROTVER\r", "LOGOUT", "VER")
        == ["Accessory Bridge 1.2.3\n", "1.3\n", "1.3\n", "OK Goodbye\n(end)"])
    #expect(try talk("HELP")[0].hasPrefix("Commands: HELP VER "))
  }

  @Test func listsNameTheUPSAndItsVariables() throws {
    #expect(try talk("LIST UPS") == ["BEGIN LIST UPS\nUPS SIM0001 \"Acme Pack\"\nEND LIST UPS\n"])
    #expect(
      try talk("LIST VAR SIM0001", to: .sample(battery: BatteryReading(percent: 57)) { $0.device.model = nil }) == [
        """
        BEGIN LIST VAR SIM0001
        VAR SIM0001 battery.charge "57"
        VAR SIM0001 ups.status "OL"
        VAR SIM0001 battery.charge.low "20"
        VAR SIM0001 device.mfr "Acme"
        VAR SIM0001 device.serial "SIM0001"
        VAR SIM0001 device.type "ups"
        VAR SIM0001 driver.name "accessory-bridge"
        VAR SIM0001 driver.parameter.port "/dev/pts/7"
        VAR SIM0001 driver.version "1.2.3"
        VAR SIM0001 ups.id "SIM0001"
        VAR SIM0001 ups.mfr "Acme"
        VAR SIM0001 ups.serial "SIM0001"
        END LIST VAR SIM0001

        """
      ])
    for what in ["RW SIM0001", "CMD SIM0001", "CLIENT SIM0001", "ENUM SIM0001 ups.status", "RANGE SIM0001 ups.status"] {
      #expect(try talk("LIST \(what)") == ["BEGIN LIST \(what)\nEND LIST \(what)\n"])
    }
  }

  @Test func variablesAndTheirTypesAreRead() throws {
    #expect(
      try talk(
        "GET VAR SIM0001 battery.voltage", "GET TYPE SIM0001 battery.voltage", "GET TYPE SIM0001 ups.status",
        "GET DESC SIM0001 ups.status", "GET DESC SIM0001 what.ever", "GET CMDDESC SIM0001 beep", "GET UPSDESC SIM0001",
        "GET NUMLOGINS SIM0001") == [
          "VAR SIM0001 battery.voltage \"3.712\"\n", "TYPE SIM0001 battery.voltage NUMBER\n",
          "TYPE SIM0001 ups.status STRING:256\n", "DESC SIM0001 ups.status \"Status of the UPS\"\n",
          "DESC SIM0001 what.ever \"Description unavailable\"\n", "CMDDESC SIM0001 beep \"Description unavailable\"\n",
          "UPSDESC SIM0001 \"Acme Pack\"\n", "NUMLOGINS SIM0001 0\n",
        ])
  }

  @Test(arguments: [
    ("LIST VAR nobody", "UNKNOWN-UPS"), ("GET VAR nobody ups.status", "UNKNOWN-UPS"), ("LOGIN nobody", "UNKNOWN-UPS"),
    ("GET VAR SIM0001 no.such", "VAR-NOT-SUPPORTED"), ("LIST ENUM SIM0001 no.such", "VAR-NOT-SUPPORTED"),
    ("GET", "INVALID-ARGUMENT"), ("GET VAR", "INVALID-ARGUMENT"), ("GET VAR SIM0001", "INVALID-ARGUMENT"),
    ("LIST", "INVALID-ARGUMENT"), ("LIST UPS SIM0001", "INVALID-ARGUMENT"), ("LIST TEA SIM0001", "INVALID-ARGUMENT"),
    ("GET DESC SIM0001 \"a b\"", "INVALID-ARGUMENT"), ("USERNAME", "INVALID-ARGUMENT"),
    ("USERNAME a b", "INVALID-ARGUMENT"),
    ("SET VAR SIM0001 ups.status x", "READONLY"), ("SET VAR SIM0001 no.such x", "VAR-NOT-SUPPORTED"),
    ("SET TRACKING MAYBE", "INVALID-ARGUMENT"), ("GET TRACKING 1bd31808", "FEATURE-NOT-CONFIGURED"),
    ("INSTCMD SIM0001 shutdown.return", "CMD-NOT-SUPPORTED"),
    ("INSTCMD nobody beep", "UNKNOWN-UPS"), ("FSD SIM0001", "ACCESS-DENIED"), ("FSD nobody", "UNKNOWN-UPS"),
    ("STARTTLS", "FEATURE-NOT-CONFIGURED"), ("MAKE TEA", "UNKNOWN-COMMAND"), ("", "UNKNOWN-COMMAND"),
    ("GET \"", "UNKNOWN-COMMAND"),
  ])
  func aWrongRequestOfNUTGetsItsError(_ line: String, _ error: String) throws {
    #expect(try talk(line) == ["ERR \(error)\n"])
  }

  /// As NUT's server does: it compares commands, the names of UPSs and of variables without regard to capital letters, and answers in
  /// those of the question.
  @Test(arguments: [
    ("list ups", "BEGIN LIST UPS\nUPS SIM0001 \"Acme Pack\"\nEND LIST UPS\n"),
    ("Get Var sim0001 UPS.Status", "VAR sim0001 UPS.Status \"OL CHRG\"\n"),
    ("get type SIM0001 Battery.Charge", "TYPE SIM0001 Battery.Charge NUMBER\n"),
    ("get upsdesc sim0001", "UPSDESC sim0001 \"Acme Pack\"\n"), ("login sim0001", "OK\n"),
    ("GET DESC sim0001 UPS.STATUS", "DESC sim0001 UPS.STATUS \"Status of the UPS\"\n"),
    ("list client sim0001", "BEGIN LIST CLIENT sim0001\nEND LIST CLIENT sim0001\n"), ("netver", "1.3\n"),
    ("Logout", "OK Goodbye\n(end)"),
  ])
  func capitalLettersDoNotMatter(_ line: String, _ answer: String) throws { #expect(try talk(line) == [answer]) }

  @Test func theListOfVariablesHasTheNameThatWasAsked() throws {
    let lines = try talk("LIST VAR sim0001")[0].split(separator: "\n")
    #expect(lines.first == "BEGIN LIST VAR sim0001")
    #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix("VAR sim0001 ") })
  }

  /// There are no changes to track, but clients may ask.
  @Test func trackingIsOffUntilAClientTurnsItOn() throws {
    #expect(
      try talk(
        "GET TRACKING", "set tracking on", "get tracking", "GET TRACKING 1bd31808", "SET TRACKING OFF", "GET TRACKING")
        == ["OFF\n", "OK\n", "ON\n", "UNKNOWN\n", "OK\n", "OFF\n"])
  }

  // MARK: - Names

  /// Two UPSs of one serial number, in the order in which they came.
  private func twins(_ paths: [String], _ change: (inout ExportedAccessory) -> Void = { _ in }) -> ReadingsSnapshot {
    var all = ReadingsSnapshot.sample("0000", battery: BatteryReading(percent: 80))
    let one = all.accessories[0]
    all.accessories = paths.enumerated().map { place, path in
      var accessory = one
      accessory.accessory = MirroredAccessory(
        id: UInt64(place + 1), service: "/run/a.socket", device: .sample("0000", path: path))
      (accessory.isRead, accessory.battery, accessory.values) = (true, one.battery, one.values)
      (accessory.id, accessory.name) = place == 0 ? ("0000", "0000") : ("0000#2", "0000_2")
      change(&accessory)
      return accessory
    }
    return all
  }

  @Test func aChosenNameStaysWithItsDevice() throws {
    let names = [("ups", "/dev/b"), ("QnapUPS", "/dev/a")]
    for paths in [["/dev/a", "/dev/b"], ["/dev/b", "/dev/a"]] {
      let port = try talk(
        "GET VAR ups driver.parameter.port", "GET VAR qnapups driver.parameter.port", "LIST UPS", to: twins(paths),
        names: names)
      #expect(port[0] == "VAR ups driver.parameter.port \"/dev/b\"\n")
      #expect(port[1] == "VAR qnapups driver.parameter.port \"/dev/a\"\n")
      #expect(port[2].split(separator: "\n").count == 4)
    }
    // Who is gone isn't replaced by who stayed.
    #expect(
      try talk("GET VAR ups ups.status", "GET VAR QnapUPS driver.parameter.port", to: twins(["/dev/a"]), names: names)
        == ["ERR DRIVER-NOT-CONNECTED\n", "VAR QnapUPS driver.parameter.port \"/dev/a\"\n"])
  }

  /// An accessory that is called like another one's chosen name gives it up.
  @Test func aChosenNameComesBeforeAnOwnOne() throws {
    var all = twins(["/dev/a", "/dev/b"])
    (all.accessories[0].id, all.accessories[0].name) = ("Ups", "Ups")
    let list = try talk("LIST UPS", "GET VAR ups driver.parameter.port", to: all, names: [("ups", "/dev/b")])
    #expect(list[0].contains("UPS ups_2 "))
    #expect(list[1] == "VAR ups driver.parameter.port \"/dev/b\"\n")
    // Also while the other one isn't there.
    let alone = try talk("GET VAR ups ups.status", "LIST UPS", to: all, names: [("ups", "/dev/c")])
    #expect(alone[0] == "ERR DRIVER-NOT-CONNECTED\n")
    #expect(alone[1].contains("UPS ups_2 "))
  }

  /// A UPS that shuts machines down is never guessed.
  @Test func aNameOfSeveralUPSsMeansNone() throws {
    let low: (inout ExportedAccessory) -> Void = { $0.battery = lowUPS }
    let query = "GET VAR 0000_2 ups.status"
    for name in ["0000", "000"] {
      let answers = try talk(
        "LIST UPS", query, "GET VAR 0000 ups.status", to: twins(["/dev/a", "/dev/b"], low), ups: [name])
      #expect(answers[0].contains("\"several accessories have this name\""))
      #expect(answers[1...] == ["VAR 0000_2 ups.status \"OL DISCHRG\"\n", "VAR 0000 ups.status \"OL DISCHRG\"\n"])
      // Nor when one of them has left.
      let left = twins(["/dev/a", "/dev/b"]) { accessory in
        accessory.battery = lowUPS
        if accessory.device.path == "/dev/a" { accessory.isConnected = false }
      }
      #expect(try talk(query, to: left, ups: [name]) == ["VAR 0000_2 ups.status \"OL DISCHRG\"\n"])
    }
    let byPort = try talk(query, "GET VAR 0000 ups.status", to: twins(["/dev/a", "/dev/b"], low), ups: ["/dev/b"])
    #expect(byPort == ["VAR 0000_2 ups.status \"OB DISCHRG LB\"\n", "VAR 0000 ups.status \"OL DISCHRG\"\n"])
    // The beginning of a name is enough.
    #expect(
      try talk("GET VAR SIM0001 ups.status", to: .sample(battery: lowUPS), ups: ["SIM"])
        == ["VAR SIM0001 ups.status \"OB DISCHRG LB\"\n"])
    #expect(
      try talk("GET VAR ups ups.status", to: .sample(battery: lowUPS), ups: ["UPS"], names: [("ups", "SIM0001")])
        == ["VAR ups ups.status \"OB DISCHRG LB\"\n"])
  }

  @Test func theOwnersLimitIsOfOneUPSOrOfAll() throws {
    let pack = ReadingsSnapshot.sample(battery: BatteryReading(percent: 25, charge: .discharging))
    func status(_ limits: (String?, String)..., profile: LowLimit? = nil) throws -> [String] {
      var readings = pack
      readings.accessories[0].record = .init(device: .sample(), state: .attached)
      readings.accessories[0].record?.lowLimit = profile
      return try talk(
        "GET VAR SIM0001 ups.status", "GET VAR SIM0001 battery.charge.low", to: readings, ups: ["SIM0001"],
        limits: limits
      ).map { String($0.split(separator: "\"")[1]) }
    }
    #expect(try status() == ["OB DISCHRG", "20"])
    #expect(try status((nil, "30%")) == ["OB DISCHRG LB", "30"])
    #expect(try status((nil, "10 %")) == ["OB DISCHRG", "10"])
    #expect(try status(("SIM0001", "30%"), (nil, "10%")) == ["OB DISCHRG", "10"])
    #expect(try status((nil, "10%"), ("sim0001", "30%")) == ["OB DISCHRG LB", "30"])
    #expect(try status(("OTHER", "30%")) == ["OB DISCHRG", "20"])
    #expect(try status(profile: LowLimit("30 %")) == ["OB DISCHRG LB", "30"])
    #expect(try status((nil, "15%"), profile: LowLimit("30 %")) == ["OB DISCHRG", "15"])
  }

  @Test func staleOrLostReadingsAreErrorsOfNUT() throws {
    for line in ["LIST VAR SIM0001", "GET VAR SIM0001 ups.status", "LIST RW SIM0001"] {
      #expect(try talk(line, to: .sample { $0.isStale = true }) == ["ERR DATA-STALE\n"])
      #expect(try talk(line, to: .sample { $0.isRead = false }) == ["ERR DATA-STALE\n"])
      #expect(try talk(line, to: .sample { $0.isConnected = false }) == ["ERR DRIVER-NOT-CONNECTED\n"])
      var lost = ReadingsSnapshot.sample()
      lost.services[0].isUp = false
      #expect(try talk(line, to: lost) == ["ERR DATA-STALE\n"])
    }
    #expect(try talk("LIST UPS", to: .sample { $0.isConnected = false })[0].contains("UPS SIM0001 "))
    #expect(try talk("LIST VAR RACK", "LIST UPS", to: .sample(), ups: ["RACK"])[0] == "ERR DRIVER-NOT-CONNECTED\n")
  }

  /// Whether the machine runs on battery power is never guessed; everything else that came is told.
  @Test func aUPSThatLeavesItsStateUnansweredIsStale() throws {
    func readings(_ battery: BatteryReading, _ values: [AccessoryValue] = []) -> ReadingsSnapshot {
      .sample(battery: battery, values: values) { $0.missing = "it does not answer status" }
    }
    let without = BatteryReading(percent: 57)
    #expect(try talk("GET VAR SIM0001 ups.status", to: readings(without), ups: ["SIM0001"]) == ["ERR DATA-STALE\n"])
    let line = "GET VAR SIM0001 battery.charge"
    #expect(try talk(line, to: readings(without)) == ["VAR SIM0001 battery.charge \"57\"\n"], "nobody calls it a UPS")
    let with = BatteryReading(percent: 57, charge: .discharging)
    #expect(try talk(line, to: readings(with), ups: ["SIM0001"]) == ["VAR SIM0001 battery.charge \"57\"\n"])
  }

  // MARK: - Logging in

  private let users = """
    # who may
    [monitor]
      password = "pass word"
      upsmon primary
    [other]
      password=x
      upsmon secondary
    """

  @Test func everybodyMayLogInWithoutUsers() throws {
    #expect(
      try talk(
        "USERNAME a", "PASSWORD b", "LOGIN SIM0001", "PRIMARY SIM0001", "MASTER SIM0001", "GET NUMLOGINS SIM0001")
        == ["OK\n", "OK\n", "OK\n", "OK PRIMARY-GRANTED\n", "OK MASTER-GRANTED\n", "NUMLOGINS SIM0001 1\n"])
    #expect(
      try talk("LOGIN SIM0001", "LOGIN SIM0001", "LIST CLIENT SIM0001") == [
        "OK\n", "ERR ALREADY-LOGGED-IN\n",
        "BEGIN LIST CLIENT SIM0001\nCLIENT SIM0001 127.0.0.1\nEND LIST CLIENT SIM0001\n",
      ])
  }

  @Test func usersLogInWithNameAndPassword() throws {
    #expect(try talk("LOGIN SIM0001", users: users) == ["ERR USERNAME-REQUIRED\n"])
    #expect(try talk("USERNAME monitor", "LOGIN SIM0001", users: users)[1] == "ERR PASSWORD-REQUIRED\n")
    #expect(
      try talk("USERNAME monitor", "PASSWORD \"pass word\"", "LOGIN SIM0001", "PRIMARY SIM0001", users: users)[2...]
        == ["OK\n", "OK PRIMARY-GRANTED\n"])
    #expect(
      try talk("USERNAME other", "PASSWORD x", "LOGIN SIM0001", "PRIMARY SIM0001", users: users)[2...]
        == ["OK\n", "ERR ACCESS-DENIED\n"])
    #expect(
      try talk("USERNAME a", "USERNAME b", "PASSWORD c", "PASSWORD d")
        == ["OK\n", "ERR ALREADY-SET-USERNAME\n", "OK\n", "ERR ALREADY-SET-PASSWORD\n"])
  }

  @Test func guessingPasswordsEndsTheConnection() throws {
    let login = "LOGIN SIM0001"
    #expect(
      try talk("USERNAME monitor", "PASSWORD pass", login, login, login, login, users: users)[2...]
        == ["ERR ACCESS-DENIED\n", "ERR ACCESS-DENIED\n", "ERR ACCESS-DENIED\n(end)"])
  }

  @Test(arguments: [
    ("password = x", 1), ("[a]\npassword = x\n[a]", 3), ("[a]\npassword = x\nmake = tea", 3), ("[a", 1), ("[a]\n", 2),
    ("[a]\npassword = \"x", 2),
  ])
  func mistakesInTheUsersFileHaveTheirLine(_ text: String, _ line: Int) {
    let mistake = #expect(throws: NUTUsers.Mistake.self) { _ = try NUTUsers(Array(text.utf8)) }
    #expect(mistake?.line == line)
  }

  // MARK: - Clients that are none

  @Test func browsersAreDisconnectedByNUT() throws {
    #expect(try talk("GET / HTTP/1.1", "LIST UPS") == ["(end)"])
    #expect(try talk("POST /x HTTP/1.1\r", "LIST UPS") == ["(end)"])
  }

  @Test func whoSpeaksSomethingElseIsDisconnected() throws {
    var session = NUTSession(NUTSession.Configuration(), address: "")
    session.take([UInt8](repeating: 10, count: 100))
    var count = 0
    while let request = session.next() {
      count += 1
      if session.answer(request, from: .sample(), logins: []).isLast { break }
    }
    #expect(count == NUTSession.errorLimit)
  }

  @Test func aLineBeyondTheLimitIsAnInvalidArgument() throws {
    for ending in ["", "\n"] {
      var session = NUTSession(NUTSession.Configuration(), address: "")
      session.take([UInt8](repeating: 0x41, count: NUTLine.limit + 1) + Array(ending.utf8))
      let next = session.next()
      let request = try #require(next)
      let answer = session.answer(request, from: .sample(), logins: [])
      #expect(answer == ExportAnswer("ERR INVALID-ARGUMENT\n", isLast: true))
    }
    var session = NUTSession(NUTSession.Configuration(), address: "")
    session.take([UInt8](repeating: 0x41, count: NUTLine.limit))
    #expect(session.next() == nil)
    session.take([10])
    #expect(session.next() == .some([UInt8](repeating: 0x41, count: NUTLine.limit)))
  }

  @Test func piecesMakeNoDifference() {
    var session = NUTSession(NUTSession.Configuration(version: "1"), address: "")
    var text = ""
    for byte in "VER\r\nNETVER\nLIST UPS\n".utf8 {
      session.take([byte])
      while let request = session.next() {
        text += String(decoding: session.answer(request, from: .sample(), logins: []).bytes, as: UTF8.self)
      }
    }
    #expect(text == "Accessory Bridge 1\n1.3\nBEGIN LIST UPS\nUPS SIM0001 \"Acme Pack\"\nEND LIST UPS\n")
  }
}
