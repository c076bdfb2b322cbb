// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessorySimulator

/// What each kind does, by the paragraph that is known of it.
extension QuirkCase {
  static func isAsleep(_ count: Int) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in (device.quirks.lostAsleep, device.quirks.sleepsAfter) = (count, .seconds(60)) }
  }

  static func comesInPieces(_ count: Int) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in device.quirks.pieces = count }
  }

  static let isEchoed: @Sendable (inout DescribedDevice, inout Faults) -> Void = { device, _ in
    device.quirks.isEchoing = true
  }

  static func isLate(_ time: Duration) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { _, faults in faults.delay = time }
  }

  static func isDeaf(_ time: Duration) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in device.quirks.deafTime = time }
  }

  static func pushes(
    _ hex: String, amid: Bool = false
  ) -> @Sendable (inout DescribedDevice, inout Faults) throws -> Void {
    { device, _ in
      device.quirks.pushes = [.bytes(try #require(Hexadecimal.bytes(hex)))]
      device.quirks.pushesAmid = amid
    }
  }

  static func refuses(
    _ name: String, by message: String? = nil
  ) -> @Sendable (inout DescribedDevice, inout Faults) throws -> Void {
    { device, _ in
      let description = device.description
      let chosen = try message.map { name in try #require(description.messages.firstIndex { $0.name == name }) }
      device.quirks.refused = [try #require(description.request(named: name)): chosen]
    }
  }

  /// What a message carries behind what is described of it.
  static func says(
    more hex: String, in name: String
  ) -> @Sendable (inout DescribedDevice, inout Faults) throws -> Void {
    { device, _ in
      let message = try #require(device.description.messages.firstIndex { $0.name == name })
      device.quirks.surplus = [message: try #require(Hexadecimal.bytes(hex))]
    }
  }

  static let isOld: @Sendable (inout DescribedDevice, inout Faults) -> Void = { device, _ in device.quirks.isOld = true
  }
  static let losesItsFirstHalf: @Sendable (inout DescribedDevice, inout Faults) -> Void = { device, _ in
    device.quirks.cutsFirst = true
  }
  static let refusesTheFirst: @Sendable (inout DescribedDevice, inout Faults) -> Void = { device, _ in
    device.quirks.refusedAtFirst = 1
  }

  static let jbd = [
    QuirkCase("jbd", "sleeps, and loses the first request", isAsleep(1)),
    QuirkCase("jbd", "sleeps, and loses two requests", isAsleep(2)),
    QuirkCase("jbd", "replies in pieces", comesInPieces(3)),
    QuirkCase("jbd", "replies late", isLate(.milliseconds(450))),
    QuirkCase("jbd", "the adapter echoes", isEchoed),
    QuirkCase("jbd", "another module answers first", pushes("DDA50000000077DD0500023031FF9D77")),
    QuirkCase(
      "jbd", "a newer board says more", more: ["humidity", "full_charge_capacity"],
      says(more: "32000003E802D0", in: "basic")),
    QuirkCase("jbd", "the cells are refused", missing: ["battery.cells"], refuses("cells")),
  ]

  static let daly = [
    QuirkCase("daly", "sleeps, and loses two requests", isAsleep(2)),
    QuirkCase("daly", "sleeps, and gives requests back") { device, _ in
      (device.quirks.lostAsleep, device.quirks.isEchoingAsleep) = (2, true)
    },
    QuirkCase("daly", "the adapter echoes", isEchoed),
    QuirkCase("daly", "replies in pieces", comesInPieces(2)),
    QuirkCase("daly", "replies late", isLate(.milliseconds(80))),
    QuirkCase("daly", "ignores input for 20 ms after a message", isDeaf(.milliseconds(20))),
  ]

  static let jk = [
    QuirkCase("jk", "sends the same by itself") { device, _ in
      device.quirks.pushes = [.message(try #require(device.description.messages.firstIndex { $0.name == "values" }))]
    },
    QuirkCase("jk", "ignores input for 100 ms after a message", isDeaf(.milliseconds(95))),
    QuirkCase("jk", "replies in pieces", comesInPieces(5)),
    QuirkCase("jk", "replies later than it is waited for", isLate(.milliseconds(2_500))),
    QuirkCase("jk", "ends with a tag that nobody knows", says(more: "D00102", in: "values")),
    QuirkCase("jk", "the adapter echoes", isEchoed),
    QuirkCase("jk", "sleeps, and loses the first request", isAsleep(1)),
  ]

  static let pylontech = [
    QuirkCase("pylontech", "the adapter echoes", isEchoed),
    QuirkCase("pylontech", "replies in pieces", comesInPieces(4)),
    QuirkCase("pylontech", "replies late", isLate(.milliseconds(400))),
    QuirkCase("pylontech", "sleeps, and loses the first request", isAsleep(1)),
    QuirkCase(
      "pylontech", "a relative on the line has other tables",
      pushes("7E32353032343630303930313630303031304630433941304339413043394130433941463842320D")),
    QuirkCase("pylontech", "a newer module says more", says(more: "0102", in: "analog")),
    QuirkCase(
      "pylontech", "the management is refused",
      missing: [
        "charge_voltage_limit", "discharge_voltage_limit", "charge_current_limit", "discharge_current_limit",
        "full_charge_requested", "charge_immediately_1", "charge_immediately_2", "charge_enabled", "discharge_enabled",
      ], refuses("management")),
  ]

  static let vedirect = [
    QuirkCase("vedirect", "begins amid a block", losesItsFirstHalf),
    QuirkCase("vedirect", "HEX messages between the blocks", pushes("3A414442454430304344304141430A")),
    QuirkCase("vedirect", "HEX messages amid the blocks", pushes("3A414442454430304344304141430A", amid: true)),
    QuirkCase("vedirect", "damaged HEX messages between the blocks", pushes("3A414442")),
    QuirkCase("vedirect", "replies in pieces", comesInPieces(7)),
    QuirkCase("vedirect", "has labels that nobody knows", says(more: "0D0A58595A0931", in: "block")),
    QuirkCase("vedirect", "isn't synchronised", missing: ["battery.percent", "battery.percentTenths", "battery.level"])
    { device, _ in
      try device.set("battery.percent", to: .nothing)
    },
    QuirkCase("vedirect", "a bad line") { _, faults in (faults.drop, faults.corrupt) = (0.2, 0.2) },
  ]

  static let pi30 = [
    QuirkCase("pi30", "half a command was in its buffer", refusesTheFirst),
    QuirkCase("pi30", "sends garbage in front of its answers", pushes("FF0A28")),
    // Whose answer comes in place of its own is unknown, and not made up.
    QuirkCase("pi30", "answers what somebody else asked", missing: ["general_model"], pushes("2853E5D90D")),
    QuirkCase("pi30", "loses the first request", isAsleep(1)),
    QuirkCase("pi30", "replies late", isLate(.milliseconds(1_000))),
    QuirkCase("pi30", "replies in pieces", comesInPieces(8)),
    QuirkCase("pi30", "is older, and says less", missing: ["panel_power", "charge_status"], isOld),
    QuirkCase("pi30", "is newer, and says more", says(more: "20303120302030303030", in: "status")),
    QuirkCase("pi30", "knows no mode", missing: ["mode", "output_off"], refuses("mode")),
    QuirkCase(
      "pi30", "knows no warnings",
      missing: ["battery.faults", "battery.warnings", "warnings_or_faults", "low_battery", "overload"],
      refuses("warnings")),
  ]

  static let vesc = [
    QuirkCase("vesc", "prints something", pushes("020E156D6F746F722073746172746564E2C003")),
    QuirkCase(
      "vesc", "prints much", pushes("03012D15" + String(repeating: "61626302106465666768696A6B6C6D", count: 20))),
    QuirkCase("vesc", "replies in pieces", comesInPieces(3)),
    QuirkCase(
      "vesc", "is older, and says less",
      missing: [
        "mosfet_1_temperature", "mosfet_2_temperature", "mosfet_3_temperature", "direct_voltage", "quadrature_voltage",
        "controller_status",
      ], isOld),
    QuirkCase("vesc", "is newer, and says more", says(more: "00000000000102030405", in: "setup")),
  ]

  static let elm327 = [
    QuirkCase("elm327", "half a command was in its buffer", refusesTheFirst),
    QuirkCase("elm327", "begins amid an answer", losesItsFirstHalf),
    QuirkCase("elm327", "sends zeros", pushes("00", amid: true)),
    QuirkCase("elm327", "replies late", isLate(.milliseconds(700))),
    QuirkCase("elm327", "replies in pieces", comesInPieces(4)),
  ]

  static let modbus = [
    QuirkCase("epever", "the adapter echoes", isEchoed),
    QuirkCase("epever", "ignores input for 10 ms after a message", isDeaf(.milliseconds(10))),
    QuirkCase("epever", "replies late", isLate(.milliseconds(200))),
    QuirkCase("epever", "replies in pieces", comesInPieces(3)),
    QuirkCase("epever", "has no percents", missing: ["battery.percent", "battery.level"], refuses("charge")),
    QuirkCase("epever", "a bad line") { _, faults in (faults.drop, faults.corrupt) = (0.05, 0.05) },
    QuirkCase("epever", "replies later than it is waited for", isLate(.milliseconds(700))),
    QuirkCase("renogy", "the adapter echoes", isEchoed),
    QuirkCase("renogy", "replies in pieces, and later than it is waited for") { device, faults in
      (device.quirks.pieces, faults.delay) = (3, .milliseconds(700))
    },
    QuirkCase("srne", "replies in pieces, and later than it is waited for") { device, faults in
      (device.quirks.pieces, faults.delay) = (3, .milliseconds(700))
    },
    QuirkCase("sdm120", "the adapter echoes", isEchoed),
    QuirkCase("sdm120", "replies late", isLate(.milliseconds(190))),
    QuirkCase("sdm120", "replies in pieces", comesInPieces(2)),
    QuirkCase("sdm120", "has no total", missing: ["energy"], refuses("total_energy")),
  ]

  static let megatec = [
    QuirkCase(
      "megatec", "says NAK",
      missing: ["rated_voltage", "rated_current", "rated_battery_voltage", "rated_frequency"],
      refuses("ratings", by: "not_acknowledged")),
    QuirkCase(
      "megatec", "sends back what it doesn't know",
      missing: [
        "output_frequency", "output_current", "positive_bus_voltage", "negative_bus_voltage", "extended_status",
      ],
      refuses("extended", by: "extended_returned")),
    QuirkCase("megatec", "says nothing to what it doesn't know") { device, _ in
      device.quirks.unanswered = [try #require(device.description.request(named: "facts"))]
    },
    QuirkCase("megatec", "begins amid an answer", losesItsFirstHalf),
    QuirkCase("megatec", "has no thermometer", missing: ["temperature"]) { device, _ in
      try device.set("temperature", to: .nothing)
    },
    QuirkCase("megatec", "replies late", isLate(.milliseconds(700))),
    QuirkCase("megatec", "replies in pieces", comesInPieces(8)),
  ]
}
