// SPDX-License-Identifier: Apache-2.0

/// The order in which kinds of accessories are tried, and at which baud rates. Kinds whose requests disturb other
/// accessories least come first, and the rate changes as seldom as possible. Documentation/identify.md explains it.
enum IdentificationOrder {
  /// A baud rate, and a kind of accessory that is tried at it.
  struct Place: Sendable, Hashable {
    let rate: UInt32
    let kind: String
    init(_ rate: UInt32, _ kind: String) { (self.rate, self.kind) = (rate, kind) }
  }

  /// Kinds that send by themselves, so that nothing is sent to find them.
  static let listening = [
    Place(19_200, "vedirect"), Place(57_600, "mavlink"), Place(115_200, "mavlink"), Place(115_200, "jk"),
    Place(921_600, "mavlink"),
  ]

  /// Kinds that must be sent a request. A kind with a second form of the request has a second entry: its name, a slash and the form.
  static let asking = [
    // Requests with checksums, which no other kind mistakes for its own.
    Place(9_600, "jbd"), Place(9_600, "daly"),
    Place(115_200, "jk"), Place(115_200, "pylontech"),
    // Before Modbus, whose requests contain a 2: a VESC takes that byte for the beginning of a frame, and waits for the end.
    Place(115_200, "vesc"),
    // Short lines of text. A UPS or an inverter may have a command that is nearly the same, so these come late.
    Place(2_400, "pi30"), Place(2_400, "megatec"),
    // Modbus. Another accessory with the same registers may answer.
    Place(2_400, "sdm120"), Place(9_600, "sdm120"), Place(9_600, "renogy"), Place(9_600, "srne"),
    Place(9_600, "pylontech"), Place(9_600, "elm327"),
    Place(38_400, "elm327"),
    Place(115_200, "epever"), Place(115_200, "elm327"), Place(115_200, "framed"), Place(115_200, "ev3"),
    // The command AT ends a Bluetooth module's connection.
    Place(9_600, "hm10"), Place(9_600, "hm10/clone"),
    // These requests switch a Bluno's radio, and other modems, to command mode for a moment.
    Place(115_200, "bluno"), Place(115_200, "bluno/old"),
  ]
}
