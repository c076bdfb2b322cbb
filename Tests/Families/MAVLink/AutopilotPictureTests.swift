// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessoryDrivers
@testable import FamilyMAVLink

@Suite struct AutopilotPictureTests {
  private let start = MonotonicTime(nanoseconds: 0)

  private func battery(_ id: UInt8, percent: UInt8) -> MAVLinkBatteryStatus {
    var status = MAVLinkBatteryStatus(id: id)
    status.percent = percent
    return status
  }

  private func picture(_ messages: MAVLinkMessage...) -> AutopilotPicture {
    var picture = AutopilotPicture()
    for message in messages { picture.take(message, at: start) }
    return picture
  }

  // MARK: - Status and identity

  @Test(
    arguments: [
      (0, nil, nil), (1, .busy, nil), (2, .busy, nil), (3, .idle, nil), (4, .busy, nil), (5, .fault, 5),
      (6, .fault, 6), (7, .busy, nil), (8, .fault, 8), (9, nil, nil), (255, nil, nil),
    ] as [(UInt8, AccessoryState?, UInt16?)])
  func anAutopilotsStateIsMappedToAStatus(state: UInt8, expected: AccessoryState?, fault: UInt16?) {
    let status = AccessoryStatus(MAVLinkHeartbeat(type: 2, autopilot: 3, state: state))
    #expect(status == AccessoryStatus(state: expected, faultCode: fault, reportsFaults: expected != nil))
  }

  @Test func anAutopilotsIdentityIsReadFromItsVersion() {
    var version = MAVLinkAutopilotVersion()
    version.flightSoftware = MAVLinkAutopilotVersion.packed(1, 15, 2)
    (version.board, version.uid) = (50, 0xBEEF)
    let heartbeat = MAVLinkHeartbeat(type: 10, autopilot: 12, state: 3)
    #expect(
      AccessoryIdentity(heartbeat, version)
        == AccessoryIdentity(
          manufacturer: "PX4", model: "rover", serialNumber: "beef", firmwareRevision: "1.15.2",
          hardwareRevision: "board 50"))
    #expect(AccessoryIdentity(heartbeat, nil) == AccessoryIdentity(manufacturer: "PX4", model: "rover"))
    #expect(AccessoryIdentity(MAVLinkHeartbeat(type: 200, autopilot: 200, state: 3), nil) == AccessoryIdentity())
  }

  // MARK: - Batteries

  @Test func anAutopilotsBatteryIsReadFromItsMessages() {
    var status = battery(0, percent: 87)
    status.voltages.replaceSubrange(0..<4, with: [3_940, 3_941, 3_939, 3_940])
    (status.centiamperes, status.centidegrees, status.secondsRemaining, status.state) = (1_234, 2_815, 600, .ok)
    var info = MAVLinkBatteryInfo(id: 0)
    (info.designMilliampereHours, info.fullMilliampereHours, info.cycles) = (5_000, 4_500, 31)
    let reading = BatteryReading(status, info, nil)
    #expect(reading.percent == 87 && reading.level == .high && reading.millivolts == 15_760)
    #expect(reading.milliamperes == -12_340 && reading.charge == .discharging && reading.timeToEmpty == .seconds(600))
    #expect(reading.cellMillivolts == [3_940, 3_941, 3_939, 3_940] && reading.faults == [])
    #expect(reading.temperatures == [BatteryReading.Temperature(28_150)])
    #expect(reading.fullMilliampereHours == 4_500 && reading.healthPercent == 90 && reading.cycles == 31)
    #expect(reading.derived == [.level, .voltage, .charge, .health])
  }

  /// Nothing is made of what isn't known.
  @Test func anUnknownBatteryHasNoValues() {
    let reading = BatteryReading(MAVLinkBatteryStatus(id: 0), nil, nil)
    #expect(reading == BatteryReading() && reading.faults == nil && reading.derived.isEmpty)
    #expect(picture().battery == nil)
    #expect(picture(.systemStatus(MAVLinkSystemStatus())).battery == nil)
  }

  @Test func aBatterysStateGivesLevelAndFaults() {
    func reading(_ state: MAVLinkBatteryStatus.State) -> BatteryReading {
      var status = battery(0, percent: 50)
      (status.state, status.centiamperes) = (state, 100)
      return BatteryReading(status, nil, nil)
    }
    #expect(reading(.ok).level == .normal && reading(.ok).faults == [])
    #expect(reading(.low).level == .low && reading(.low).levelOrigin == .reported)
    #expect(reading(.critical).level == .critical && reading(.critical).warnings == nil)
    #expect(reading(.emergency).level == .critical && reading(.emergency).warnings == ["emergency"])
    #expect(reading(.failed).faults == ["failed"] && reading(.unhealthy).faults == ["unhealthy"])
    #expect(reading(.charging).charge == .charging && !reading(.charging).derived.contains(.charge))
  }

  @Test func aNegativeCurrentChargesTheBattery() {
    var system = MAVLinkSystemStatus()
    system.centiamperes = -200
    #expect(BatteryReading(system).milliamperes == 2_000 && BatteryReading(system).charge == .charging)
    system.centiamperes = .min
    #expect(BatteryReading(system).milliamperes == 327_680)
    system.centiamperes = 0
    #expect(BatteryReading(system).milliamperes == 0 && BatteryReading(system).charge == .unknown)
  }

  /// What one battery leaves open comes from the autopilot's own status; with several that would be another's.
  @Test func theSystemsStatusFillsInForOneBattery() {
    var system = MAVLinkSystemStatus()
    (system.millivolts, system.percent, system.centiamperes) = (12_000, 40, 100)
    let one = picture(.systemStatus(system), .batteryStatus(MAVLinkBatteryStatus(id: 2)))
    #expect(one.battery?.millivolts == 12_000 && one.battery?.percent == 40 && one.battery?.milliamperes == -1_000)
    let two = picture(
      .systemStatus(system), .batteryStatus(MAVLinkBatteryStatus(id: 2)), .batteryStatus(battery(1, percent: 9)))
    #expect(two.battery?.millivolts == nil && two.battery?.percent == 9)
    #expect(picture(.systemStatus(system)).battery == BatteryReading(system))
  }

  @Test func theLowestNumberedBatteryIsTheMainOne() throws {
    let picture = picture(
      .batteryStatus(battery(3, percent: 30)), .batteryStatus(battery(1, percent: 10)),
      .batteryStatus(battery(2, percent: 20)))
    #expect(picture.battery?.percent == 10 && picture.otherBatteries.map(\.id) == [2, 3])
    let values = Dictionary(uniqueKeysWithValues: picture.values.map { ($0.name, $0) })
    #expect(values["battery_2_percent"]?.number == 20 && values["battery_3_percent"]?.number == 30)
    #expect(values["battery_1_percent"] == nil && values["battery_2_voltage"]?.content == nil)
  }

  /// As many as come from the line, and no more than there is room for.
  @Test func batteriesOfAnAutopilotAreBounded() {
    var picture = AutopilotPicture()
    for id in UInt8.min ... .max {
      picture.take(.batteryStatus(battery(id, percent: 1)), at: start)
      picture.take(.batteryInfo(MAVLinkBatteryInfo(id: id)), at: start)
    }
    #expect(picture.batteries.count == AutopilotPicture.mostBatteries && picture.infos.count == 16)
    #expect(picture.values.count <= ReadingLimits.values)
    #expect(Set(picture.values.map(\.name)).count == picture.values.count)
  }

  // MARK: - Time

  @Test func oldMessagesOfAnAutopilotAreForgotten() {
    var picture = picture(
      .heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 3)), .systemStatus(MAVLinkSystemStatus()),
      .batteryStatus(battery(0, percent: 50)), .statusText(MAVLinkStatusText("hello")))
    picture.take(.batteryStatus(battery(1, percent: 40)), at: start + .seconds(5))
    #expect(picture.fresh(now: start + .seconds(10)).battery?.percent == 50)
    let later = picture.fresh(now: start + .seconds(11))
    #expect(later.heartbeat == nil && later.system == nil && later.battery?.percent == 40)
    let values = Dictionary(uniqueKeysWithValues: later.values.map { ($0.name, $0.content) })
    #expect(values["armed"] == .some(nil) && values["load"] == .some(nil) && values["unhealthy"] == .some(nil))
    #expect(values["text"] == .text("hello"))
  }

  // MARK: - Values and texts

  @Test func anAutopilotsValuesHaveTheirWords() {
    var system = MAVLinkSystemStatus()
    (system.load, system.dropRate, system.communicationErrors) = (253, 150, 7)
    (system.present, system.enabled, system.healthy) = (0x21, 0x21, 0x01)
    var status = battery(0, percent: 50)
    (status.consumedMilliampereHours, status.consumedHectojoules, status.function, status.type) = (845, 36, 2, 1)
    status.state = .ok
    let picture = picture(
      .heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, mode: [.armed, .custom, .guided], customMode: 4, state: 4)),
      .systemStatus(system), .batteryStatus(status), .statusText(MAVLinkStatusText("Low battery", severity: 2)))
    let values = Dictionary(uniqueKeysWithValues: picture.values.map { ($0.name, $0.content) })
    #expect(values["armed"] == .flag(true) && values["state"] == .choice(word: "active", number: 4))
    #expect(values["mode"] == .text("custom, guided") && values["custom_mode"] == .number(4))
    #expect(values["load"] == .number(25.3) && values["drop_rate"] == .number(1.5))
    #expect(values["communication_errors"] == .number(7) && values["unhealthy"] == .text("GPS"))
    #expect(values["battery_consumed"] == .number(845) && values["battery_energy"] == .number(1))
    #expect(values["battery_function"] == .text("propulsion") && values["battery_type"] == .text("LiPo"))
    #expect(values["battery_state"] == .choice(word: "ok", number: 1))
    #expect(values["text"] == .text("Low battery") && values["text_severity"] == .choice(word: "critical", number: 2))
  }

  /// Numbers of newer versions, for which there are no words yet.
  @Test func unknownNumbersAreShownAsNumbers() {
    var status = battery(0, percent: 50)
    (status.function, status.type) = (0, 9)
    let picture = picture(
      .heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, mode: [], customMode: 0, state: 99)), .batteryStatus(status),
      .statusText(MAVLinkStatusText("Hm", severity: 12)))
    let values = Dictionary(uniqueKeysWithValues: picture.values.map { ($0.name, $0.content) })
    #expect(values["state"] == .choice(word: "99", number: 99))
    #expect(values["text_severity"] == .choice(word: "12", number: 12))
    #expect(values["battery_type"] == .text("9") && values["battery_function"] == .some(nil))
  }

  /// A long text comes in pieces; without one of them its beginning is all that is known.
  @Test func textsInPiecesArePutTogether() {
    func piece(_ text: String, _ id: UInt16, _ number: UInt8) -> MAVLinkMessage {
      var piece = MAVLinkStatusText(text)
      (piece.id, piece.piece) = (id, number)
      return .statusText(piece)
    }
    let full = String(repeating: "a", count: 50)
    func text(_ pieces: MAVLinkMessage...) -> String {
      var picture = AutopilotPicture()
      for piece in pieces { picture.take(piece, at: start) }
      return String(decoding: picture.text, as: UTF8.self)
    }
    #expect(text(piece(full, 1, 0), piece("end", 1, 1)) == full + "end")
    #expect(text(piece(full, 1, 0), piece("end", 1, 2)) == full)
    #expect(text(piece(full, 1, 0), piece("other", 2, 0)) == "other")
    #expect(text(piece(full, 1, 0), piece("short", 1, 1), piece("more", 1, 2)) == full + "short")
    var endless = AutopilotPicture()
    for number in UInt8.min ... .max { endless.take(piece(full, 1, number), at: start) }
    #expect(endless.text.count == ReadingLimits.textBytes)
  }
}
