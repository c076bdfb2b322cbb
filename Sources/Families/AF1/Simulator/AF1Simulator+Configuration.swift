// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// How a simulated AF1 accessory is made, and what happens to it.
extension AF1Simulator {
  /// What the accessory is plugged into.
  public enum Connection: Sendable {
    /// A pseudo-terminal, which looks like a serial port. Other programs find it by its announcement.
    case pseudoTerminal
    /// A USB port of `host`. The kernel finds the device there.
    case usb(SimulatedUSBIdentity, host: any USBHost = KernelHost())
  }

  /// The configuration of a simulator.
  public struct Configuration: Sendable {
    /// What the accessory is plugged into. The default is `pseudoTerminal`.
    public var connection = Connection.pseudoTerminal
    /// The accessory's state.
    public var device = AF1Device.Configuration()
    /// The faults that happen.
    public var faults = Faults()
    /// The seed of all random numbers, so that a run can be repeated.
    public var seed: UInt64
    /// How fast the battery drains, in percent per second. The default is 0.
    public var drain = 0.0
    /// The path of a link to the pseudo-terminal, whose own path changes; nil for no link.
    public var link: String?
    /// Whether a pseudo-terminal is announced. The default is `true`.
    public var isAnnounced = true
    /// The folder of the announcement; nil means the user's, where other programs look.
    public var announcementDirectory: String?

    /// A simulator without faults.
    public init(seed: UInt64 = .random(in: 0 ... .max)) { self.seed = seed }

    var plug: SimulatorConnection {
      switch connection {
      case .pseudoTerminal: .pseudoTerminal
      case .usb(let identity, let host): .usb(identity, host: host)
      }
    }

    /// The link and the announcement of a pseudo-terminal.
    var hints: DiscoveryHints {
      let identity = device.identity
      var announcement = Announcement(
        path: "", driver: "framed", name: identity.name, manufacturer: identity.manufacturer, model: identity.model,
        serial: identity.serialNumber)
      announcement.firmware = identity.firmwareVersion
      announcement.hardware = identity.hardwareVersion
      return DiscoveryHints(
        link: link, announcement: isAnnounced ? announcement : nil, directory: announcementDirectory)
    }
  }

  /// An event of the simulator.
  public enum Event: SimulatorEvent {
    /// The accessory was plugged in. `path` is that of its terminal, or of the USB device in sysfs.
    case pluggedIn(path: String)
    /// The accessory was unplugged.
    case unplugged
    /// The accessory restarted.
    case restarted
    /// The battery has changed.
    case battery(AF1BatteryReply)
    /// A file was received, with the announced size and checksum.
    case stored(name: String, size: Int, checksum: UInt32)
    /// A file was received, but its checksum isn't the announced one.
    case damaged(name: String)
    /// The host aborted a transfer after this many bytes.
    case aborted(name: String, at: Int)
    /// The host changed the serial settings of a USB device.
    case line(HostLineSettings)
  }
}
