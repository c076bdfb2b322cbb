// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyMAVLink

@Suite struct MAVLinkMessageTests {
  private static func battery(_ voltages: [UInt16?]) -> MAVLinkBatteryStatus {
    var status = MAVLinkBatteryStatus()
    for (index, voltage) in voltages.enumerated() { status.voltages[index] = voltage }
    return status
  }

  private static let messages: [MAVLinkMessage] = {
    var system = MAVLinkSystemStatus()
    (system.present, system.load, system.millivolts, system.centiamperes) = (7, 999, 12_345, -250)
    (system.dropRate, system.communicationErrors, system.errors, system.percent) = (1, 2, [3, 4, 5, 6], 100)
    var status = battery((0..<14).map { 3_000 + UInt16($0) })
    (status.id, status.function, status.type, status.centidegrees) = (3, 2, 4, -2_000)
    (status.centiamperes, status.consumedMilliampereHours, status.consumedHectojoules) = (-5, 1, 2)
    (status.percent, status.secondsRemaining, status.state, status.mode, status.faults) = (0, 7, .failed, 2, 0x101)
    var info = MAVLinkBatteryInfo(id: 2)
    (info.designMilliampereHours, info.fullMilliampereHours, info.cycles) = (5_000, 4_000, 12)
    (info.serialNumber, info.name) = ("ABC", "a battery")
    var version = MAVLinkAutopilotVersion()
    (version.capabilities, version.uid, version.board) = (0x8000_0000_0000_2001, 77, 9)
    version.flightSoftware = MAVLinkAutopilotVersion.packed(1, 15, 0, kind: 130)
    version.builds = (0..<24).map { UInt8($0) }
    return [
      .heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 12, mode: .armed, customMode: 70_000, state: 4)),
      .systemStatus(system), .batteryStatus(status), .batteryInfo(info), .autopilotVersion(version),
      .statusText(MAVLinkStatusText("Low battery", severity: 2)),
      .command(MAVLinkCommand(512, [148], system: 1, component: 1, confirmation: 2)),
      .acknowledgement(MAVLinkAcknowledgement(512, .denied, system: 1, component: 191)),
    ]
  }()

  /// Each message is the same again, in version 1 without its extensions.
  @Test(arguments: messages) func messagesOfMAVLinkAreEncodedAndReadBack(message: MAVLinkMessage) throws {
    let payload = message.payload(.two)
    #expect(MAVLinkMessage(message.number, payload: payload.span.bytes) == message)
    #expect(payload.count == 1 || payload.last != 0)
    let facts = try #require(MAVLinkTable.definition(of: message.number))
    #expect(payload.count <= facts.fullByteCount)
    let old = message.payload(.one)
    #expect(old.count == facts.baseByteCount)
    let frame = message.frame(.one, sequence: 1, system: 2, component: 3)
    guard facts.baseByteCount > 0 else {
      #expect(frame.isEmpty)
      return
    }
    var codec = MAVLinkCodec()
    let batch = codec.received(frame)
    #expect(batch.outcomes == [.whole] && batch.payloadBytes(at: 0) == old)
    #expect(MAVLinkMessage(message.number, payload: old.span.bytes)?.payload(.one) == old)
  }

  /// What nobody knows is unknown, also where the zeros at the end were cut off.
  @Test func whatAMessageDoesNotSayIsUnknown() {
    for payload in [[0], []] as [[UInt8]] {
      let status = MAVLinkBatteryStatus(payload.span.bytes)
      #expect(status.secondsRemaining == nil && status.state == nil && status.faultWords == nil)
      #expect(status.voltages.suffix(4) == [nil, nil, nil, nil])
    }
    let blank = MAVLinkBatteryStatus()
    #expect(MAVLinkBatteryStatus(blank.payload.span.bytes) == blank)
    #expect(blank.millivolts == nil && blank.cells.isEmpty && blank.percent == nil && blank.centiamperes == nil)
    #expect(blank.faultWords == nil && blank.functionWord == nil && blank.typeWord == nil)
    let system = MAVLinkSystemStatus()
    #expect(MAVLinkSystemStatus(system.payload.span.bytes) == system)
    #expect(system.load == nil && system.millivolts == nil && system.centiamperes == nil && system.percent == nil)
    let info = MAVLinkBatteryInfo()
    #expect(MAVLinkBatteryInfo(info.payload.span.bytes) == info && info.healthPercent == nil && info.cycles == nil)
    #expect(MAVLinkAutopilotVersion(([0] as [UInt8]).span.bytes).firmware == nil)
    #expect(MAVLinkAutopilotVersion(([0] as [UInt8]).span.bytes).serialNumber == nil)
  }

  /// What can't be is unknown, too.
  @Test func impossibleNumbersOfAMessageAreUnknown() {
    var bytes = MAVLinkBatteryStatus().payload
    (bytes[35], bytes[39], bytes[40]) = (101, 0x80, 99)
    let status = MAVLinkBatteryStatus(bytes.span.bytes)
    #expect(status.percent == nil && status.secondsRemaining == nil && status.state == nil)
    var system = MAVLinkSystemStatus().payload
    (system[12], system[13], system[30]) = (0xE9, 3, 0x80)
    #expect(MAVLinkSystemStatus(system.span.bytes).load == nil)
    #expect(MAVLinkSystemStatus(system.span.bytes).percent == nil)
  }

  @Test func voltagesAreThoseOfCellsOrOfAPack() {
    // The voltage of all alone.
    #expect(Self.battery([15_760]).millivolts == 15_760 && Self.battery([15_760]).cells.isEmpty)
    #expect(Self.battery([3_700]).millivolts == 3_700 && !Self.battery([3_700]).isSumOfCells)
    // What is beyond 65,534 mV is in the next.
    #expect(Self.battery([65_534, 6_466]).millivolts == 72_000 && Self.battery([65_534, 6_466]).cells.isEmpty)
    #expect(Self.battery([65_534, 100]).cells.isEmpty)
    // Cells; one that isn't known, and then neither is the sum.
    #expect(Self.battery([3_700, 3_701]).cells == [3_700, 3_701] && Self.battery([3_700, 3_701]).millivolts == 7_401)
    #expect(Self.battery([3_700, nil, 3_702]).cells == [3_700, nil, 3_702])
    #expect(Self.battery([3_700, nil, 3_702]).millivolts == nil)
    let many = Self.battery(Array(repeating: 4_000, count: 14))
    #expect(many.cells.count == 14 && many.millivolts == 56_000)
    #expect(MAVLinkBatteryStatus(many.payload.span.bytes) == many)
  }

  @Test func faultsOfABatteryAreNamed() {
    var status = MAVLinkBatteryStatus()
    status.faults = 0x8000_0011
    #expect(status.faultWords == ["deep discharge", "overtemperature", "fault 31"])
    status.state = .failed
    #expect(status.faultWords?.last == "failed")
    (status.faults, status.state) = (0, .charging)
    #expect(status.faultWords == [])
  }

  @Test func anAutopilotsVersionAndSerialNumberAreNamed() {
    func firmware(_ kind: UInt8) -> String? {
      var version = MAVLinkAutopilotVersion()
      version.flightSoftware = MAVLinkAutopilotVersion.packed(4, 5, 7, kind: kind)
      return version.firmware
    }
    #expect(
      [0, 64, 128, 192, 255].map(firmware) == [
        "4.5.7 development", "4.5.7 alpha", "4.5.7 beta", "4.5.7 candidate", "4.5.7",
      ])
    var version = MAVLinkAutopilotVersion()
    version.uid = 0xABC
    #expect(version.serialNumber == "abc")
    version.longUID[17] = 0x0F
    #expect(version.serialNumber == "00000000000000000000000000000000000f")
  }

  /// Texts are cut at a zero, or at their end; what is not UTF-8 does no harm.
  @Test func statusTextsEndAtTheirFirstZero() {
    let long = MAVLinkStatusText(String(repeating: "x", count: 80))
    #expect(long.bytes.count == 50)
    #expect(MAVLinkStatusText(long.payload.span.bytes) == long)
    #expect(MAVLinkStatusText(([3, 0xFF, 0xFE, 0, 65] as [UInt8]).span.bytes).bytes == [0xFF, 0xFE])
    #expect(MAVLinkStatusText(([9] as [UInt8]).span.bytes).severityWord == nil)
  }

  @Test func commandsOfMAVLinkSayWhatTheyRequest() {
    #expect(MAVLinkCommand(512, [148], system: 1, component: 1).requestedMessage == 148)
    #expect(MAVLinkCommand(400, [1], system: 1, component: 1).requestedMessage == nil)
    for odd in [Float.nan, .infinity, -1, 0.5, 1e20] {
      #expect(MAVLinkCommand(512, [odd], system: 1, component: 1).requestedMessage == nil)
    }
    #expect(MAVLinkCommand(512, Array(repeating: 1, count: 9), system: 1, component: 1).parameters.count == 7)
    #expect(MAVLinkAcknowledgement(511, .unsupported).word == "unsupported")
    #expect(MAVLinkAcknowledgement(([0, 0, 77] as [UInt8]).span.bytes).word == nil)
  }
}
