// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// What a simulator can be told to pretend, and what it tells.

extension EV3Simulator {
  /// What it is connected by.
  public enum Connection: Sendable {
    /// A terminal that looks like Bluetooth's serial port, and is announced.
    case pseudoTerminal
    /// A USB port of `host`, as the HID device that a brick is.
    case usb(host: any USBHost = KernelHost())
    /// The network: it listens at this address, where port 0 takes any that is free, and is announced.
    case network(host: String = "127.0.0.1", port: UInt16 = 5_555)
  }

  /// How fast it is, and what happens to hosts that don't care.
  public struct Pace: Sendable, Hashable {
    /// Time that every message takes. The default is zero.
    public var perMessage = Duration.zero
    /// With more messages waiting than this, it drops the link; nil never does.
    public var mostMessages: Int?
    /// The same for the bytes of these.
    public var mostBytes: Int?

    /// A brick that takes all there is.
    public init() {}

    /// A brick that needs 2 ms a message and has room for eight of them, or 4096 bytes: then it drops the link.
    public static var overrun: Pace {
      var pace = Pace()
      pace.perMessage = .milliseconds(2)
      pace.mostMessages = 8
      pace.mostBytes = 4_096
      return pace
    }
  }

  /// What to pretend.
  public struct Configuration: Sendable {
    /// What it is connected by. The default is `pseudoTerminal`.
    public var connection = Connection.pseudoTerminal
    /// The brick.
    public var device = EV3Device.Configuration()
    /// How fast it is.
    public var pace = Pace()
    /// What goes wrong. Of these, a brick knows `drop`, `corrupt`, `delay`, `unplug` and `replug`.
    public var faults = Faults()
    /// Whether files stay open when the host goes. The default is `true`.
    public var keepsHandles = true
    /// Repeats everything that is random.
    public var seed: UInt64
    /// Where to keep a link to the pseudo-terminal.
    public var link: String?
    /// Whether others are told of it. The default is `true`.
    public var isAnnounced = true
    /// Where to announce it; nil for the user's own directory, where others look.
    public var announcementDirectory: String?

    /// A brick in good order.
    public init(seed: UInt64 = .random(in: 0 ... .max)) { self.seed = seed }
  }

  /// What happens to it.
  public enum Event: Sendable, Hashable {
    /// It can be opened at this path: a terminal, a USB device's place in sysfs, or `tcp:HOST:PORT`.
    case pluggedIn(path: String)
    /// It is gone.
    case unplugged
    /// It dropped the link: more was sent than it has room for.
    case overrun
  }
}
