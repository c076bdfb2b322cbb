// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessorySimulator
import FamilyEV3

extension EV3Simulator.Configuration {
  var plug: SimulatorConnection {
    switch connection {
    case .pseudoTerminal: .pseudoTerminal
    case .usb(let host): .usb(.ev3(serialNumber: device.serialNumber), host: host)
    case .network(let host, let port): .network(host: host, port: port)
    }
  }

  /// The link and the announcement, for connections that the kernel doesn't report to other programs.
  var hints: DiscoveryHints {
    var announcement = Announcement(
      path: "", driver: "ev3", name: device.name, manufacturer: "LEGO", model: "EV3", serial: device.serialNumber)
    announcement.firmware = device.firmwareVersion
    announcement.hardware = device.hardwareVersion
    return DiscoveryHints(link: link, announcement: isAnnounced ? announcement : nil, directory: announcementDirectory)
  }
}

extension SimulatedUSBIdentity {
  /// The USB identity of a brick (d_usbdev.c in the firmware).
  static func ev3(serialNumber: String) -> SimulatedUSBIdentity {
    var identity = SimulatedUSBIdentity(.reports)
    (identity.vendorID, identity.productID, identity.release) = (0x0694, 0x0005, 0x0216)
    identity.manufacturer = "LEGO Group"
    identity.product = "EV3 brick    "
    identity.serialNumber = serialNumber
    return identity
  }
}
