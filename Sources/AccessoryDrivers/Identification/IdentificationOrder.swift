// SPDX-License-Identifier: Apache-2.0

/// In which order kinds are looked for, and at which rates: what disturbs least comes first, and rates change seldom.
/// Documentation/identify.md explains it.
enum IdentificationOrder {
  /// A rate, and a kind that is looked for at it.
  struct Place: Sendable, Hashable {
    let rate: UInt32
    let kind: String
    init(_ rate: UInt32, _ kind: String) { (self.rate, self.kind) = (rate, kind) }
  }

  /// Kinds that send by themselves: nothing is sent to find them.
  static let listening = [
    Place(19_200, "vedirect"), Place(57_600, "mavlink"), Place(115_200, "mavlink"), Place(115_200, "jk"),
    Place(921_600, "mavlink"),
  ]

  /// Kinds that are asked.
  static let asking = [
    // Frames with checks, which nothing else takes for its own.
    Place(9_600, "jbd"), Place(9_600, "daly"),
    Place(115_200, "jk"), Place(115_200, "pylontech"),
    // Before Modbus, whose requests have a 2 in them: a VESC takes that for a frame's beginning, and waits for its end.
    Place(115_200, "vesc"),
    // Short lines of text; a UPS or an inverter may have a command that is nearly the same, so they come late.
    Place(2_400, "pi30"), Place(2_400, "megatec"),
    // Modbus. Who answers may be another accessory with the same registers.
    Place(2_400, "sdm120"), Place(9_600, "sdm120"), Place(9_600, "renogy"), Place(9_600, "srne"),
    Place(9_600, "pylontech"), Place(9_600, "elm327"),
    Place(38_400, "elm327"),
    Place(115_200, "epever"), Place(115_200, "elm327"), Place(115_200, af1), Place(115_200, ev3),
    // AT ends a connection that a Bluetooth module has.
    Place(9_600, hm10), Place(9_600, hm10Clone),
    // This has a Bluno's radio, and other modems, leave the line to commands for a moment.
    Place(115_200, bluno), Place(115_200, oldBluno),
  ]

  static let af1 = AF1Accessory.driverName
  static let ev3 = EV3Brick.driverName
  static let hm10 = HM10Module.driverName
  static let bluno = BlunoRobot.driverName
  static let mavlink = MAVLinkAutopilot.driverName
  /// Places of their own in the order for what is sent in two forms. No description has such a name.
  static let hm10Clone = hm10 + "/clone"
  static let oldBluno = bluno + "/old"
}
