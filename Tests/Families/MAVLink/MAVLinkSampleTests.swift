// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyMAVLink

/// Frames of real autopilots, and of another implementation.
enum MAVLinkSample {
  static let realSystemStatus = hex(
    "fd1f0000d201010100000fdc30130f8020120b8110031a000200730000000000000000000000000060b166")
  static let realBattery = hex(
    "fd2900000c01019300000000000000000000ff7fffffffffffffffffffffffffffffffffffffffff0000000000ff00000000066f93")
  static let realText = hex("fd1000000d0101fd0000064172647550696c6f742052656164798f5b")
  static let realHeartbeat = hex("fd0900000001c8000000000000000400d80403e49b")
  static let realTime = hex("fe0cbc01010260f6b619c860050006410100950d")
  static let heartbeat = hex("fd090000070101000000000000000203510303a120")
  static let systemStatus = hex(
    "fd1f00000701010100002ffc23102ffc23102ffc2310fd00903dd20400000000000000000000000057346a")
  static let battery = hex(
    "fd2900000701019300004d030000ffffffffff0a640f650f630f640fffffffffffffffffffffffffd2040001015758020000014cf9")
  static let oldHeartbeat = hex("fe0907010100000000000203510303ff21")

  static let all = [
    realSystemStatus, realBattery, realText, realHeartbeat, realTime, heartbeat, systemStatus, battery, oldHeartbeat,
  ]
}

@Suite struct MAVLinkSampleTests {
  private func one(_ bytes: [UInt8]) throws -> (header: MAVLinkHeader, message: MAVLinkMessage?, payload: [UInt8]) {
    var codec = MAVLinkCodec()
    let batch = codec.received(bytes)
    try #require(batch.count == 1 && batch.outcome(at: 0) == .whole)
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 0)
    let (header, payload) = (batch.header(at: 0), batch.payloadBytes(at: 0))
    return (header, MAVLinkMessage(header.message, payload: payload.span.bytes), payload)
  }

  /// Each is one frame, and the same bytes again.
  @Test(arguments: MAVLinkSample.all) func samplesOfMAVLinkAreDecodedAndEncoded(sample: [UInt8]) throws {
    let (header, message, payload) = try one(sample)
    var bytes: [UInt8] = []
    try MAVLinkCodec().encode(header, payload: payload, into: &bytes)
    #expect(bytes == sample)
    guard let message else {
      #expect(header.message == 2)
      return
    }
    #expect(
      message.frame(header.version, sequence: header.sequence, system: header.system, component: header.component)
        == sample)
  }

  @Test func samplesOfMAVLinkHaveTheirMeaning() throws {
    guard case .systemStatus(let real)? = try one(MAVLinkSample.realSystemStatus).message,
      case .systemStatus(let system)? = try one(MAVLinkSample.systemStatus).message,
      case .batteryStatus(let empty)? = try one(MAVLinkSample.realBattery).message,
      case .batteryStatus(let battery)? = try one(MAVLinkSample.battery).message,
      case .statusText(let text)? = try one(MAVLinkSample.realText).message,
      case .heartbeat(let part)? = try one(MAVLinkSample.realHeartbeat).message,
      case .heartbeat(let beat)? = try one(MAVLinkSample.heartbeat).message
    else {
      Issue.record("a sample isn't the message that it is")
      return
    }
    #expect(real.millivolts == 2 && real.centiamperes == 115 && real.percent == 96 && real.load == 26)
    #expect(system.millivolts == 15_760 && system.centiamperes == 1_234 && system.percent == 87)
    #expect(system.load == 253)

    #expect(empty.millivolts == nil && empty.cells.isEmpty && empty.centidegrees == nil && empty.percent == nil)
    #expect(empty.centiamperes == 0 && empty.consumedMilliampereHours == 0 && empty.state == .unhealthy)
    #expect(empty.secondsRemaining == nil && empty.faultWords == ["unhealthy"])
    #expect(battery.cells == [3_940, 3_941, 3_939, 3_940] && battery.millivolts == 15_760)
    #expect(battery.centiamperes == 1_234 && battery.consumedMilliampereHours == 845)
    #expect(battery.consumedHectojoules == nil && battery.centidegrees == 2_815 && battery.percent == 87)
    #expect(battery.secondsRemaining == 600 && battery.state == .ok && battery.faultWords == [])
    #expect(battery.functionWord == "all" && battery.typeWord == "LiPo")

    #expect(text.bytes == Array("ArduPilot Ready".utf8) && text.severityWord == "info")
    #expect(part.mode == [.armed, .manual, .stabilized, .guided] && part.state == 4 && part.definitions == 3)
    #expect(part.typeWord == "helicopter" && part.autopilotName == "generic")
    #expect(beat.typeWord == "quadrotor" && beat.autopilotName == "ArduPilot" && beat.stateWord == "standby")
    let old = try one(MAVLinkSample.oldHeartbeat)
    #expect(old.header.version == .one && old.header.sequence == 7 && old.message == .heartbeat(beat))
  }

  /// Whatever bit is changed, nothing of the frame is delivered.
  @Test(arguments: MAVLinkSample.all) func damagedOnesAreRefused(sample: [UInt8]) {
    for bit in 0..<(8 * sample.count) {
      var bytes = sample
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      var codec = MAVLinkCodec()
      var batch = codec.received(bytes)
      codec.idle(into: &batch)
      while codec.hasUnfinishedFrame { codec.expire(into: &batch) }
      #expect(batch.payloads.isEmpty, "bit \(bit)")
      #expect(codec.counters.skippedBytes == UInt64(sample.count))
    }
  }
}
