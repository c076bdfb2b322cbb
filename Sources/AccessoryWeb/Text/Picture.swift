// SPDX-License-Identifier: Apache-2.0

import CommandOutput

/// An icon for a kind of accessory: lines in a square of 24 by 24.
enum Picture: String, Sendable, CaseIterable {
  case battery, solar, ups, inverter, motor, car, meter, robot, drone, gadget

  /// The icon of an accessory: by its driver, or by whether it has a battery.
  init(_ row: TopRow) {
    let driver = row.accessory.record?.driver ?? row.accessory.driver ?? ""
    self = Self.drivers[driver] ?? (row.accessory.battery == nil ? .gadget : .battery)
  }

  /// The icons of drivers that aren't batteries.
  private static let drivers: [String: Picture] = [
    "vedirect": .solar, "epever": .solar, "renogy": .solar, "srne": .solar, "megatec": .ups, "hid-power": .ups,
    "pi30": .inverter, "vesc": .motor, "elm327": .car, "sdm120": .meter, "ev3": .robot, "bluno": .robot,
    "hm10": .robot, "hm1x": .robot, "mavlink": .drone, "framed": .gadget,
  ]

  /// The name of the kind, for many of it.
  var plural: String {
    switch self {
    case .battery: "Batteries"
    case .solar: "Solar"
    case .ups: "UPSs"
    case .inverter: "Inverters"
    case .motor: "Motors"
    case .car: "Cars"
    case .meter: "Meters"
    case .robot: "Robots"
    case .drone: "Drones"
    case .gadget: "Others"
    }
  }

  /// The icon as an SVG element, in the colour of the surrounding text.
  var svg: String { "<svg class=\"picture\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"\(path)\"/></svg>" }

  private var path: String {
    switch self {
    case .battery:
      "M3 8h16a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1zM22.5 10.5v3M6 11v2M10 11v2M14 11v2"
    case .solar:
      "M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM12 1.5v2.5M12 20v2.5M1.5 12H4M20 12h2.5M4.6 4.6l1.8 1.8M17.6 17.6l1.8 1.8M4.6 19.4l1.8-1.8M17.6 6.4l1.8-1.8"
    case .ups: "M6 3h12v18H6zM9 6.5h6M12.8 10l-2.6 4h3.6l-2.6 4"
    case .inverter: "M3 4h18v16H3zM6.5 12c1.8-5 3.7-5 5.5 0s3.7 5 5.5 0"
    case .motor: "M4 8h11v9H4zM15 10.5h4v4h-4M19 12.5h3M7 8V5h5v3M6 20h7"
    case .car: "M3 16v-3.5l2-5.5h14l2 5.5V16zM3 12.5h18M5 16v2.5M19 16v2.5M6.5 14.3h1M16.5 14.3h1"
    case .meter: "M3.5 18a9 9 0 1 1 17 0zM12 15l4-5M12 6v1.5M5.5 13.5H7M17 13.5h1.5"
    case .robot: "M5 8h14v10H5zM12 8V4.5M12 3.5v.5M9 12v1.5M15 12v1.5M2.5 11.5v4M21.5 11.5v4M8 18v3M16 18v3"
    case .drone:
      "M9.5 10h5v4h-5zM9.5 10 6 7M14.5 10 18 7M9.5 14 6 17M14.5 14l3.5 3M2.5 6.5h7M14.5 6.5h7M2.5 17.5h7M14.5 17.5h7"
    case .gadget: "M6 6h12v12H6zM9.5 9.5h5v5h-5zM9 6V3M15 6V3M9 21v-3M15 21v-3M6 9H3M6 15H3M21 9h-3M21 15h-3"
    }
  }
}
