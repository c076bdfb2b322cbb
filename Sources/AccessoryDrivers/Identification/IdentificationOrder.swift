// SPDX-License-Identifier: Apache-2.0

/// The order in which kinds of accessories are tried, and at which baud rates. Kinds whose requests disturb other
/// accessories least come first, and the rate changes as seldom as possible. Documentation/identify.md explains it.
///
/// It names described kinds only: a driver in Swift declares its own places.
enum IdentificationOrder {
  /// A baud rate, and a kind of accessory that is tried at it.
  struct Place: Sendable, Hashable {
    let rate: UInt32
    let kind: String
    init(_ rate: UInt32, _ kind: String) { (self.rate, self.kind) = (rate, kind) }
  }

  /// Kinds that send by themselves, so that nothing is sent to find them: by their rates, and at each rate those in Swift first.
  static func listening(_ drivers: [Driver]) -> [Place] {
    let places = native(drivers).filter { $0.disturbance == .none }.map(\.place) + heard
    return places.enumerated().sorted { ($0.element.rate, $0.offset) < ($1.element.rate, $1.offset) }.map(\.element)
  }

  /// Kinds that must be sent a request. A kind with a second form of the request has a second entry: its name, a slash and the form.
  static func asking(_ drivers: [Driver]) -> [Place] {
    let places = native(drivers).filter { $0.disturbance != .none }.enumerated().sorted {
      ($0.element.disturbance.rawValue, $0.offset) < ($1.element.disturbance.rawValue, $1.offset)
    }
    return asked + places.map(\.element.place)
  }

  private static func native(_ drivers: [Driver]) -> [(disturbance: ProbePlace.Disturbance, place: Place)] {
    drivers.flatMap { driver in
      driver.probePlaces.map { place in
        (place.disturbance, Place(place.rate, driver.name + (place.form.map { "/" + $0 } ?? "")))
      }
    }
  }

  private static let heard = [Place(19_200, "vedirect"), Place(115_200, "jk")]

  private static let asked = [
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
    Place(115_200, "epever"), Place(115_200, "elm327"),
  ]
}
