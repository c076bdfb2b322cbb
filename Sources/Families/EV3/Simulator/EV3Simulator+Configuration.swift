// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyEV3

// The configuration and the events of a simulated brick.

extension EV3Simulator {
  /// How the brick is connected.
  public enum Connection: Sendable {
    /// A pseudo-terminal, which looks like a Bluetooth serial port and is announced.
    case pseudoTerminal
    /// A USB port of `host`. The brick is a HID device there.
    case usb(host: any USBHost = KernelHost())
    /// A TCP port at this address, which is announced. Port 0 selects any free one.
    case network(host: String = "127.0.0.1", port: UInt16 = 5_555)
  }

  /// How fast the brick handles messages, and when it is overrun.
  public struct Pace: Sendable, Hashable {
    /// The time to handle a message. The default is zero.
    public var perMessage = Duration.zero
    /// The brick drops the connection when more messages than this wait; nil means no limit.
    public var mostMessages: Int?
    /// The brick drops the connection when waiting messages have more bytes than this; nil means no limit.
    public var mostBytes: Int?

    /// A brick that is never overrun.
    public init() {}

    /// A brick that takes 2 ms for a message and has room for eight messages or 4096 bytes.
    public static var overrun: Pace {
      var pace = Pace()
      pace.perMessage = .milliseconds(2)
      pace.mostMessages = 8
      pace.mostBytes = 4_096
      return pace
    }
  }

  /// The configuration of a simulator.
  public struct Configuration: Sendable {
    /// How the brick is connected. The default is `pseudoTerminal`.
    public var connection = Connection.pseudoTerminal
    /// The brick's state.
    public var device = EV3Device.Configuration()
    /// How fast the brick handles messages.
    public var pace = Pace()
    /// The faults that happen. Only `drop`, `corrupt`, `delay`, `unplug` and `replug` have an effect.
    public var faults = Faults()
    /// Whether files stay open when the connection to the host is lost. The default is `true`.
    public var keepsHandles = true
    /// The seed of all random numbers, so that a run can be repeated.
    public var seed: UInt64
    /// The path of a link to the pseudo-terminal; nil for no link.
    public var link: String?
    /// Whether the brick is announced. The default is `true`.
    public var isAnnounced = true
    /// The folder of the announcement; nil means the user's, where other programs look.
    public var announcementDirectory: String?

    /// A simulator without faults.
    public init(seed: UInt64 = .random(in: 0 ... .max)) { self.seed = seed }
  }

  /// An event of the simulator.
  public enum Event: SimulatorEvent {
    /// The brick was connected, at this path: a terminal, a USB device in sysfs, or `tcp:HOST:PORT`.
    case pluggedIn(path: String)
    /// The brick was disconnected.
    case unplugged
    /// The brick dropped the connection, because more messages waited than it has room for.
    case overrun
  }
}
