// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryExport

/// Conversations with a client of NUT's protocol.
struct NUTSessionTests {
  /// What a session answers to these lines; the last answer ends in "(end)" where the connection is closed.
  private func talk(
    _ lines: String..., to readings: ReadingsSnapshot = .sample(), ups: [String] = [], users: String? = nil,
    logins: [ExportLogin] = []
  ) throws -> [String] {
    var configuration = NUTSession.Configuration(upses: ups, version: "1.2.3")
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
        VAR SIM0001 ups.status "OL"
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
    ("SET TRACKING ON", "INVALID-ARGUMENT"), ("INSTCMD SIM0001 shutdown.return", "CMD-NOT-SUPPORTED"),
    ("INSTCMD nobody beep", "UNKNOWN-UPS"), ("FSD SIM0001", "ACCESS-DENIED"), ("FSD nobody", "UNKNOWN-UPS"),
    ("STARTTLS", "FEATURE-NOT-CONFIGURED"), ("MAKE TEA", "UNKNOWN-COMMAND"), ("", "UNKNOWN-COMMAND"),
    ("get var SIM0001 ups.status", "UNKNOWN-COMMAND"), ("GET \"", "UNKNOWN-COMMAND"),
  ])
  func aWrongRequestOfNUTGetsItsError(_ line: String, _ error: String) throws {
    #expect(try talk(line) == ["ERR \(error)\n"])
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
