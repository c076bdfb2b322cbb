// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import FamilyHM10
import TestSupport
import Testing

@testable import AccessoryLink

/// Commands and replies of the HM-10, with the test as the module.
@Suite struct HM10ExchangeTests {
  private static let one = BluetoothAddress(rawValue: 0x0017_EA09_0909)!

  // MARK: - Contact

  @Test func aGenuineModuleIsKnownByItsOK() {
    var harness = HM10Harness()
    let opening = harness.begin()
    #expect(harness.takeSent() == ["AT"])
    harness.deliver("OK")
    #expect(harness.results.isEmpty, "a line end may follow")
    harness.silence()
    #expect(harness.reply(opening) == .ok && harness.exchange.codec.dialect == .genuine)
  }

  /// The first AT without a line end is the beginning of what the clone reads next.
  @Test func aCloneIsKnownByItsLineEnds() {
    var harness = HM10Harness()
    let opening = harness.begin()
    harness.advance(.milliseconds(1_100))
    harness.deliver("ERROR=102\r\n")
    harness.silence()
    #expect(harness.results.isEmpty)
    harness.advance(.milliseconds(1_100))
    harness.deliver("OK\r\n")
    #expect(harness.reply(opening) == .ok && harness.exchange.codec.dialect == .clone)
    #expect(harness.takeSent() == ["AT", "AT\r\n", "AT\r\n"])
    harness.advance(.milliseconds(30))
    let name = harness.submit(.name)
    #expect(harness.takeSent() == ["AT+NAME?\r\n"])
    harness.deliver("+NAME=BT05\r\n")
    #expect(harness.reply(name) == .clone(name: "NAME", text: "BT05"))
    let battery = harness.submit(.battery)
    harness.advance(.milliseconds(30))
    harness.deliver("ERROR=102\r\n")
    #expect(harness.error(battery)?.kind == .refused)
  }

  @Test func aModuleThatNeverAnswersTimesOutTheOpening() {
    var harness = HM10Harness()
    let opening = harness.begin()
    harness.advance(.seconds(20))
    #expect(harness.takeSent() == ["AT", "AT\r\n", "AT\r\n", "AT"])
    #expect(harness.error(opening)?.kind == .timedOut)
    #expect(harness.error(opening)?.message.contains("is it an HM-10") == true)
  }

  /// AT ends the connection of an earlier program, or of a telephone.
  @Test func openingEndsAnEarlierConnection() {
    var harness = HM10Harness()
    let opening = harness.begin()
    harness.say("OK+LOST")
    #expect(harness.reply(opening) == .lost && harness.exchange.endedConnection)
  }

  /// An earlier program's scan goes on: it is waited for.
  @Test func openingWaitsForTheEndOfAScan() {
    var harness = HM10Harness()
    let opening = harness.begin()
    for _ in 0..<5 {
      harness.advance(.milliseconds(900))
      harness.say("OK+DIS0:A6D73C040381")
    }
    #expect(harness.results.isEmpty && harness.takeSent() == ["AT"])
    harness.say("OK+DISCE")
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == ["AT"], "what it didn't hear amid the scan")
    harness.say("OK")
    #expect(harness.reply(opening) == .ok && harness.exchange.codec.dialect == .genuine)
  }

  /// What says that a scan is over, again and again, is sent the same greeting once for each, and no other.
  @Test func repeatedEndsOfAScanGetOneGreeting() {
    var harness = HM10Harness()
    let opening = harness.begin()
    _ = harness.takeSent()
    for count in 1...5 {
      for _ in 0..<count { harness.say("OK+DISCE") }
      harness.advance(.milliseconds(20))
      #expect(harness.takeSent() == ["AT"])
    }
    harness.advance(.seconds(20))
    #expect(harness.takeSent() == ["AT\r\n", "AT\r\n", "AT"])
    #expect(harness.error(opening)?.kind == .timedOut)
  }

  /// The end of an earlier program's scan may get lost; and one that never ends isn't waited for forever.
  @Test func amidAScanWithoutEnd() {
    var harness = HM10Harness()
    harness.begin()
    harness.say("OK+DIS0:A6D73C040381")
    harness.advance(.milliseconds(2_000))
    #expect(harness.takeSent() == ["AT", "AT\r\n"])
    var endless = HM10Harness()
    let opening = endless.begin()
    for _ in 0..<70 {
      endless.say("OK+DIS0:A6D73C040381")
      endless.say("OK+DISCE")
      endless.advance(.seconds(1))
    }
    #expect(endless.error(opening)?.kind == .timedOut)
  }

  // MARK: - Commands

  /// Never two at a time: the next goes when the last was answered, and a pause has passed.
  @Test func commandsOfAModuleWaitForEachOther() {
    var harness = HM10Harness.opened()
    let battery = harness.submit(.battery)
    let address = harness.submit(.address)
    #expect(harness.takeSent() == ["AT+BATT?"])
    harness.deliver("OK+BATT:057")
    #expect(harness.reply(battery)?.batteryPercent == 57, "its length tells the end")
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == ["AT+ADDR?"])
    harness.deliver("OK+ADDR:0017EA090909")
    #expect(harness.reply(address) == .address(Self.one))
  }

  @Test func theNewFormOfTheBatteryIsRead() {
    var harness = HM10Harness.opened()
    let battery = harness.submit(.battery)
    harness.say("OK+Get:099")
    #expect(harness.reply(battery)?.batteryPercent == 99)
  }

  @Test func silenceEndsWhatHasNoPattern() {
    var harness = HM10Harness.opened()
    let version = harness.submit(.version(.vers))
    harness.deliver("HMSoft ")
    harness.deliver("V540")
    #expect(harness.results.count == 1, "the opening")
    harness.silence()
    #expect(harness.reply(version)?.plainText == "HMSoft V540")
  }

  @Test func aCommandWithoutAnswerLetsTheNextOneGo() {
    var harness = HM10Harness.opened()
    let first = harness.submit(.version(.verr))
    let second = harness.submit(.version(.vers))
    harness.advance(.seconds(1))
    #expect(harness.error(first)?.kind == .timedOut)
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == ["AT+VERR?", "AT+VERS?"])
    harness.say("V540")
    #expect(harness.reply(second)?.plainText == "V540")
  }

  /// A module that starts anew is left alone.
  @Test(arguments: [(HM10Command.reset, "OK+RESET"), (.renew, "OK+RENEW"), (.setSpeed(.b9600), "OK+Set:0")])
  func aRestartingModuleIsLeftAloneForASecond(command: HM10Command, answer: String) {
    var harness = HM10Harness.opened()
    let reset = harness.submit(command)
    harness.say(answer)
    #expect(harness.reply(reset) != nil)
    harness.submit(.name)
    _ = harness.takeSent()
    harness.advance(.milliseconds(999))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == ["AT+NAME?"])
  }

  @Test func aCommandWithWrongArgumentsIsNotSent() {
    var harness = HM10Harness.opened()
    let name = harness.submit(.setName("much too long a name"))
    #expect(harness.error(name)?.kind == .misconfigured)
    #expect(harness.takeSent().isEmpty)
  }

  @Test func theQueueOfAModuleIsBounded() {
    var options = HM10Exchange.Options()
    options.queueLimit = 2
    var harness = HM10Harness.opened(options: options)
    let all = (0..<4).map { _ in harness.submit(.name) }
    #expect(harness.error(all[3])?.kind == .busy)
    harness.end(.disconnected("module"))
    #expect(all[..<3].allSatisfy { harness.error($0)?.kind == .disconnected })
    let late = harness.submit(.name)
    #expect(harness.error(late)?.kind == .disconnected)
    #expect(harness.completed.count == Set(harness.completed).count)
  }

  @Test func theOldestWaitingCommandIsDropped() {
    var options = HM10Exchange.Options()
    options.queueLimit = 1
    options.overflow = .dropOldest
    var harness = HM10Harness.opened(options: options)
    let all = (0..<3).map { _ in harness.submit(.name) }
    #expect(harness.error(all[1])?.kind == .busy && harness.exchange.counters.overflows == 1)
    #expect(harness.results[all[0]] == nil && harness.results[all[2]] == nil)
  }

  @Test func aCancelledCommandsAnswerIsNotTheNextOnes() {
    var harness = HM10Harness.opened()
    let first = harness.submit(.name)
    let second = harness.submit(.address)
    harness.cancel(second)
    harness.cancel(first)
    #expect(harness.error(first)?.kind == .cancelled && harness.error(second)?.kind == .cancelled)
    let third = harness.submit(.battery)
    // The answer to what nobody waits for any more isn't the next one's.
    harness.deliver("OK+NAME:HMSoft\r\n")
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == ["AT+NAME?", "AT+BATT?"])
    harness.deliver("OK+BATT:100")
    #expect(harness.reply(third) == .battery(100))
  }

  // MARK: - Scanning

  @Test func aScanListsItsNeighboursByStrength() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.discover)
    harness.deliver("OK+DISCSOK+DIS0:A6D73C040381OK+RSSI:-066OK+NAME:L3250 Series\r\nOK+DIS0:D43639A63BC4")
    harness.deliver("OK+RSSI:-062OK+NAME:HMSoft\r\nOK+DISCE")
    #expect(harness.results[id] == nil, "a name can look like the end")
    harness.silence()
    guard case .success(.scan(let scan))? = harness.results[id] else {
      Issue.record("the scan isn't over")
      return
    }
    #expect(scan.strongestFirst.map(\.name) == ["HMSoft", "L3250 Series"])
    #expect(harness.events.count == 6)
  }

  /// Names with line ends in them can neither end a scan nor make a connection.
  @Test func hostileNamesNeitherEndAScanNorConnect() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.discover)
    harness.deliver("OK+DISCS")
    for name in ["x\r\nOK+DISCE", "y\r\nOK+CONN", "z\r\nOK+CONN:0017EA090909", "OK+LOST", "\r\nOK+DISCS"] {
      harness.deliver("OK+DIS0:A6D73C04038\(name.utf8.count % 10)OK+RSSI:-066OK+NAME:\(name)\r\n")
    }
    #expect(!harness.exchange.isConnected && harness.results[id] == nil)
    harness.say("OK+DIS0:D43639A63BC4OK+DISCE")
    guard case .success(.scan(let scan))? = harness.results[id] else {
      Issue.record("the scan isn't over")
      return
    }
    #expect(scan.neighbours.last?.address.digits == "D43639A63BC4")
    #expect(!harness.events.contains(.lost) && !harness.exchange.isConnected)
  }

  @Test func aScanWithoutEndTimesOut() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.discover)
    harness.deliver("OK+DISCS")
    harness.advance(.seconds(12))
    #expect(harness.error(id)?.kind == .timedOut)
    // However much there is to tell, it ends some time.
    let endless = harness.submit(.discover)
    harness.advance(.milliseconds(20))
    harness.deliver("OK+DISCS")
    for _ in 0..<70 {
      harness.deliver("OK+DIS0:D43639A63BC4")
      harness.advance(.seconds(1))
    }
    #expect(harness.error(endless)?.kind == .timedOut)
  }

  /// A command behind a scan that nobody waits for goes when the module is done.
  @Test func aCancelledScanHoldsTheLineUntilItEnds() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.discover)
    harness.deliver("OK+DISCS")
    harness.cancel(id)
    #expect(harness.error(id)?.kind == .cancelled)
    harness.submit(.name)
    harness.advance(.seconds(1))
    #expect(harness.takeSent() == ["AT+DISC?"])
    harness.say("OK+DISCE")
    harness.advance(.milliseconds(20))
    #expect(harness.takeSent() == ["AT+NAME?"])
  }

  // MARK: - Connections

  @Test func aConnectedLineBelongsToTheOtherSide() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.connect(Self.one))
    #expect(harness.takeSent() == ["AT+CON0017EA090909"])
    harness.deliver("OK+CONNA")
    #expect(harness.results[id] == nil)
    harness.advance(.seconds(5))
    harness.say("OK+CONN")
    #expect(harness.results[id] == .success(.connected(Self.one)))
    #expect(harness.exchange.isConnected && harness.exchange.peer == Self.one)
    #expect(harness.events == [.connected(Self.one)])
    // Now the line is the other side's.
    let name = harness.submit(.name)
    #expect(harness.error(name)?.kind == .busy)
    let data = harness.send("hello")
    #expect(harness.results[data] == .success(.sent))
    #expect(harness.takeSent() == ["hello"])
    harness.deliver("OK+NAME:x\r\nOK")
    harness.silence()
    let received = harness.events.compactMap { if case .data(let bytes) = $0 { bytes } else { nil } }.flatMap { $0 }
    #expect(received == Array("OK+NAME:x\r\nOK".utf8))
  }

  @Test(arguments: [
    ("OK+CONNE", "", AccessoryError.Kind.refused), ("OK+CONNA", "OK+CONNF", .disconnected),
    ("OK+CONNF", "", .disconnected), ("OK+CONNA", "OK+CONNE", .refused),
  ])
  func aFailedConnectionSaysWhatKindOfFailure(first: String, second: String, kind: AccessoryError.Kind) {
    var harness = HM10Harness.opened()
    let id = harness.submit(.connect(Self.one))
    harness.say(first)
    if !second.isEmpty {
      harness.advance(.seconds(10))
      harness.say(second)
    }
    #expect(harness.error(id)?.kind == kind)
    #expect(!harness.exchange.isConnected)
  }

  @Test func connectingToTheLastNeedsAnEarlierConnection() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.connectLast)
    harness.say("OK+CONNN")
    #expect(harness.error(id)?.kind == .notFound)
  }

  @Test func aConnectionThatIsNeverMadeTimesOut() {
    var harness = HM10Harness.opened()
    let id = harness.submit(.connectIndex(0))
    harness.say("OK+CONN0")
    harness.advance(.seconds(12))
    #expect(harness.error(id)?.kind == .timedOut)
  }

  @Test func aLostConnectionFreesTheLineForCommands() {
    var harness = HM10Harness.opened()
    harness.submit(.connect(Self.one))
    harness.say("OK+CONNA")
    harness.say("OK+CONN")
    harness.host.events = []
    // With something behind it, it is the other side's.
    harness.deliver("OK+LOST")
    harness.deliver("!")
    #expect(harness.exchange.isConnected)
    harness.say("OK+LOST")
    #expect(harness.events == [.data(Array("OK+LOST!".utf8)), .lost])
    #expect(!harness.exchange.isConnected && harness.exchange.peer == nil)
    let late = harness.send("x")
    #expect(harness.error(late)?.kind == .disconnected)
    let name = harness.submit(.name)
    harness.advance(.milliseconds(20))
    harness.say("OK+NAME:HMSoft\r\n")
    #expect(harness.reply(name) == .name("HMSoft"))
  }

  @Test func endingAConnectionWaitsBehindData() {
    var harness = HM10Harness.opened()
    harness.submit(.connect(Self.one))
    harness.say("OK+CONNA")
    harness.say("OK+CONN")
    _ = harness.takeSent()
    harness.advance(.milliseconds(20))
    harness.send("hello")
    let id = harness.submit(.attention)
    harness.advance(.milliseconds(99))
    #expect(harness.takeSent() == ["hello"], "AT right behind data would be data")
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == ["AT"])
    harness.say("OK+LOST")
    #expect(harness.reply(id) == .lost && harness.events.last == .lost && !harness.exchange.isConnected)
  }

  /// A telephone connects to the module: what waits for it can't be.
  @Test func aConnectionFromOutsideFailsWaitingCommands() {
    var harness = HM10Harness.opened()
    let first = harness.submit(.name)
    let second = harness.submit(.address)
    harness.deliver("OK+CONN:0017EA090909")
    #expect(harness.error(first)?.kind == .busy && harness.error(second)?.kind == .busy)
    #expect(harness.events == [.connected(Self.one)])
    harness.deliver("hi")
    #expect(harness.events.last == .data(Array("hi".utf8)))
  }
}
