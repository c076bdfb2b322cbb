// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import FamilyMAVLink
import TestSupport
import Testing

@testable import AccessoryDrivers

/// A search at a port, against accessories that answer only at their own rate.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct IdentifierTests {
  /// What a described kind says to its identifying request, by its examples.
  private static func answer(_ kind: String) throws -> (request: [UInt8], reply: [UInt8], rate: UInt32) {
    let described = try #require(DescriptionLibrary.builtIn.described(kind))
    let identify = try #require(described.description.plan.identify)
    let request = try RequestEncoder(try DescribedCodec(described.description)).bytes(identify).bytes
    let example = try #require(
      described.description.examples.first {
        $0.request == identify && !$0.isRefused && !$0.received.isEmpty && $0.unit == nil
      })
    return (request, example.received, try #require(described.line?.baudRate ?? 115_200))
  }

  @Test(arguments: ["jbd", "daly", "jk", "pylontech", "pi30", "sdm120", "epever", "elm327", "vesc", "megatec"])
  func everyDescribedKindIsFoundAtItsRate(kind: String) async throws {
    let (request, reply, rate) = try Self.answer(kind)
    let port = PretendedPort { $0 == rate && $1 == request ? reply : nil }
    let plan = IdentificationPlan.test()
    let outcome = try await port.identify(plan)
    #expect(outcome.found.map(\.kind) == [kind], "\(outcome)")
    let find = try #require(outcome.found.first)
    #expect(find.line?.baudRate == rate && !find.facts.isEmpty && plan.steps[find.step - 1].kinds.contains(kind))
    // What was announced, in that order, and nothing behind the answer.
    let sent = port.written.map { PretendedPort.Written(rate: $0.rate, lines: nil, bytes: $0.bytes) }
    #expect(sent == Array(plan.announced.prefix(sent.count)) && sent.last?.bytes == request)
  }

  /// A silent port is sent all that was announced, and nothing else; then the modem lines are as they were.
  @Test func aSilentPortIsSentWhatWasAnnounced() async throws {
    let port = PretendedPort(modemLines: [.dtr])
    let plan = IdentificationPlan.test()
    let outcome = try await port.identify(plan)
    #expect(outcome.found.isEmpty && outcome.noise.isEmpty && outcome.stepCount == plan.steps.count)
    let sent = port.written.map { PretendedPort.Written(rate: $0.rate, lines: nil, bytes: $0.bytes) }
    #expect(sent == plan.announced)
    #expect(port.written.allSatisfy { $0.lines == [.dtr] }, "only VE.Direct wants RTS, and is sent nothing")
    #expect(port.line?.state.value.status.modemLines == [.dtr])
  }

  /// The time that is told before is a limit: for a silent port, for one that says something to everything, and for an adapter
  /// that hears itself.
  @Test(arguments: ["silent", "noisy", "echo"]) func itTakesNoLongerThanItSays(behaviour: String) async throws {
    for kinds in [nil, ["jbd", "daly"], ["framed"], ["hm10", "bluno"], ["vedirect", "epever"]] as [[String]?] {
      let port = PretendedPort { _, bytes in
        behaviour == "silent" ? nil : behaviour == "echo" ? bytes : [0x0F, 0x55, 0xFF, 0x01] + bytes.reversed()
      }
      let plan = IdentificationPlan.test(kinds)
      let start = port.clock.now
      let outcome = try await port.identify(plan)
      let time = port.clock.now - start
      #expect(outcome.found.isEmpty && outcome.stepCount == plan.steps.count && outcome.skipped.isEmpty)
      #expect(time <= plan.longest, "\(time) of \(plan.longest) for \(kinds ?? ["all"])")
      if behaviour == "silent" { #expect(time * 10 > (plan.longest - .seconds(1)) * 8, "\(time) of \(plan.longest)") }
    }
  }

  /// Where every timer is late, the last steps are left out, and it is told which.
  @Test func aBusyMachineDoesNotMakeItLonger() async throws {
    let late = Duration.milliseconds(500)
    let port = PretendedPort(lateness: late)
    let plan = IdentificationPlan.test()
    let start = port.clock.now
    let outcome = try await port.identify(plan)
    #expect(port.clock.now - start <= plan.longest + late * 2)
    #expect(outcome.skipped[plan.steps.count] == "the time is over: try it alone, with --only bluno")
    #expect(outcome.stepCount + outcome.skipped.count == plan.steps.count)
  }

  @Test func noiseIsReportedWithItsRate() async throws {
    let port = PretendedPort { rate, bytes in rate == 9_600 ? [0xDD, 0x03, 0x00, 0x1B, 0xFF] + bytes.reversed() : nil }
    let outcome = try await port.identify(.test())
    let noise = try #require(outcome.noise.first)
    #expect(outcome.found.isEmpty && outcome.noise.count == 1 && noise.baudRate == 9_600)
    #expect(noise.byteCount > 32 && noise.first.count == 32 && !noise.looksLikeText && !noise.isEcho)
    #expect(IdentificationNoise(byteCount: 8, first: Array("login: \r".utf8)).looksLikeText)
  }

  /// An adapter that hears itself is no accessory.
  @Test func anEchoIsNoAccessory() async throws {
    let port = PretendedPort { _, bytes in bytes }
    let outcome = try await port.identify(.test())
    #expect(outcome.found.isEmpty, "\(outcome.found)")
    #expect(!outcome.noise.isEmpty && outcome.noise.allSatisfy(\.isEcho))
  }

  /// An adapter that hears itself, with an accessory behind it whose request looks like its answer; in pieces.
  @Test func anAnswerBehindAnEchoIsIdentified() async throws {
    let (request, reply, rate) = try Self.answer("vesc")
    let port = PretendedPort { $0 == rate ? $1 == request ? $1 + reply : $1 : nil }
    #expect(try await port.identify(.test()).found.map(\.kind) == ["vesc"])
    var filter = EchoFilter(of: [1, 2, 3])
    #expect(filter.filter([1]) == [] && filter.filter([2]) == [] && !filter.hasFound)
    #expect(filter.filter([3, 4]) == [4] && filter.hasFound && filter.filter([1, 2, 3]) == [1, 2, 3])
    var other = EchoFilter(of: [1, 2, 3])
    #expect(other.filter([1, 2]) == [] && other.filter([2, 3]) == [1, 2, 2, 3] && !other.hasFound)
  }

  /// It speaks as JBD's do, and refuses: that is told, and the search goes on.
  @Test func aRefusalIsReportedAndTheSearchGoesOn() async throws {
    let refused: [UInt8] = [0xDD, 0x03, 0x80, 0x00, 0xFF, 0x80, 0x77]
    let port = PretendedPort { rate, bytes in rate == 9_600 && bytes.first == 0xDD ? refused : nil }
    let outcome = try await port.identify(.test())
    #expect(outcome.found.isEmpty && outcome.refusals.map(\.name) == ["jbd"])
    #expect(port.written.count { $0.bytes.first == 0xDD && $0.rate == 9_600 } == 1, "it isn't asked again")
  }

  /// What doesn't say what is expected isn't it: an inverter of another protocol number.
  @Test func anUnexpectedReplyIsNoAccessory() async throws {
    let port = PretendedPort { _, bytes in
      guard bytes.starts(with: "QPI".utf8) else { return nil }
      var reply = Array("(PI18".utf8)
      let check = CRC16.checksum(of: reply.span.bytes, .crc16XMODEM)
      reply += [UInt8(check >> 8), UInt8(check & 0xFF), 0x0D]
      return reply
    }
    let outcome = try await port.identify(.test(["pi30"]))
    #expect(outcome.found.isEmpty && outcome.noise.first?.byteCount == 16)
  }

  @Test func anAccessoryThatSendsByItselfIsFound() async throws {
    let text =
      "\r\nPID\t0xA389\r\nV\t12865\r\nVS\t-14\r\nI\t0\r\nP\t0\r\nCE\t0\r\nSOC\t1000\r\nTTG\t-1\r\nAlarm\tOFF\r\nAR\t0\r\n"
    let port = PretendedPort(modemLines: [])
    port.transport.receive(Array((text + "BMV\tSmartShunt 500A/50mV\r\nFW\t0405\r\nChecksum\tL").utf8))
    let outcome = try await port.identify(.test())
    #expect(outcome.found.map(\.kind) == ["vedirect"] && outcome.found.first?.line?.baudRate == 19_200)
    #expect(port.written.isEmpty && port.line?.state.value.status.modemLines == [], "RTS and DTR are lowered again")
    let pilot = PretendedPort()
    let heartbeat = try #require(Hexadecimal.bytes("fd090000070101000000000000000203510303a120"))
    pilot.transport.receive(heartbeat)
    #expect(try await pilot.identify(.test(["mavlink"])).found.map(\.kind) == ["mavlink"])
    #expect(pilot.written.isEmpty)
    // A ground station is none.
    let ground = PretendedPort()
    var message = MAVLinkHeartbeat(type: MAVLinkHeartbeat.groundStation, autopilot: 8, state: 4)
    message.definitions = 3
    ground.transport.receive(MAVLinkMessage.heartbeat(message).frame(.two, sequence: 0, system: 255, component: 190))
    #expect(try await ground.identify(.test(["mavlink"])).found.isEmpty)
  }

  @Test func kindsOfDriversInSwiftAreFound() async throws {
    let identity = AF1Identity(
      manufacturer: "Acme", name: "", model: "M", serialNumber: "1", firmwareVersion: "", hardwareVersion: "")
    let framed = PretendedPort { rate, bytes in
      guard rate == 115_200, bytes.starts(with: [0x0F, 0xF0]) else { return nil }
      let payload: [UInt8] = (try? identity.encoded()) ?? []
      var reply: [UInt8] = []
      try? AF1Codec(maximumPayload: 256).encode(
        .reply(to: .request(.identify, number: 0x4944)), payload: payload.span.bytes, into: &reply)
      return reply
    }
    #expect(try await framed.identify(.test()).found.map(\.kind) == ["framed"])
    let brick = PretendedPort { _, bytes in
      bytes == [4, 0, 0x44, 0x49, 1, 0x9D] ? [5, 0, 0x44, 0x49, 3, 0x9D, 0] : nil
    }
    #expect(try await brick.identify(.test()).found.map(\.kind) == ["ev3"])
    for (request, reply) in [("AT", "OK"), ("AT\r\n", "OK\r\n"), ("AT", "OK+LOST")] {
      let module = PretendedPort { $0 == 9_600 && $1 == Array(request.utf8) ? Array(reply.utf8) : nil }
      #expect(try await module.identify(.test()).found.map(\.kind) == ["hm10"], "\(reply)")
    }
    // A modem that isn't one of these gives back what it is told, and then an OK.
    let modem = PretendedPort { $1 == Array("AT\r\n".utf8) ? Array("AT\r\n\r\nOK\r\n".utf8) : nil }
    #expect(try await modem.identify(.test()).found.isEmpty)
  }

  /// AT mode, which is entered to find a Bluno, is left again.
  @Test func aBlunoIsLeftAsItWas() async throws {
    let robot = PretendedPort { $1 == Array("+++".utf8) ? Array("Enter AT Mode\r\n".utf8) : nil }
    #expect(try await robot.identify(.test(["bluno"])).found.map(\.kind) == ["bluno"])
    #expect(robot.written.map { String(decoding: $0.bytes, as: UTF8.self) } == ["+++", "AT+EXIT\r\n"])
    let old = PretendedPort { $1 == Array("AT\r\n".utf8) ? Array("OK\r\n".utf8) : nil }
    #expect(try await old.identify(.test(["bluno"])).found.map(\.kind) == ["bluno"])
    #expect(old.written.map { String(decoding: $0.bytes, as: UTF8.self) } == ["+++", "AT\r\n", "+++"])
  }

  /// Over Modbus TCP, where frames have numbers.
  @Test func anAccessoryIsFoundOverModbusTCP() async throws {
    let port = PretendedPort(hasLine: false) { _, bytes in
      guard bytes.count == 12, bytes[7] == 4, bytes[8] == 0x33 else { return nil }
      return [bytes[0], bytes[1], 0, 0, 0, 9, 1, 4, 6, 0x04, 0xFC, 0xFF, 0xFD, 0xFF, 0xFF]
    }
    let plan = IdentificationPlan.test(port: .modbusTCP)
    #expect(try await port.identify(plan).found.map(\.kind) == ["epever"])
    #expect(port.written.map(\.bytes) == Array(plan.announced.map(\.bytes).prefix(port.written.count)))
  }

  /// A session that is closed already is an error, and nothing is sent.
  @Test func aClosedSessionIsNotIdentified() async throws {
    let port = PretendedPort()
    await port.session.close()
    await #expect(throws: AccessoryError.self) { try await port.identify(.test()) }
    #expect(port.written.isEmpty)
  }

  @Test func anUnpluggedPortFailsTheIdentification() async throws {
    let port = PretendedPort { rate, bytes in nil }
    port.transport.unplug()
    await #expect(throws: AccessoryError.self) { try await port.identify(.test()) }
  }

  @Test func cancellingAnIdentificationSendsNothing() async throws {
    let port = PretendedPort(modemLines: [])
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await port.identify(.test())
    }
    await #expect(throws: AccessoryError.self) { try await task.value }
    #expect(port.written.isEmpty)
    #expect(port.line?.state.value.status.modemLines == [], "DTR and RTS are put back")
  }
}
