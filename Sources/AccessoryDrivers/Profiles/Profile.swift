// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryLink

/// What to know of one kind of accessory: which devices are of that kind, how to open them, and what they speak.
public struct Profile: Sendable, Hashable {
  /// What the profile is called. One profile of a name counts.
  public var name: String
  /// What it is for, for people.
  public var description: String?
  /// A device is of this kind when one of these fits it.
  public var rules: [DeviceRule]
  /// How to open it.
  public var transport = TransportSettings()
  /// The driver that speaks its protocol, or the name of the described protocol that it speaks; nil when there is none, and
  /// clients bring their own.
  public var driver: String?
  /// The protocol's description, where the profile has one of its own; `driver` is its name then.
  public var described: DescribedProtocol?
  /// Numbers that the accessory doesn't tell, by the names of the described protocol's parameters.
  public var parameters: [String: Double] = [:]
  /// What clients of the ExternalAccessory interface ask for, in reverse-DNS form. They choose accessories by these
  /// alone; a profile without any shows none.
  public var protocolStrings: [String]
  /// When the next request may be sent.
  public var pacing = Pacing.reply
  /// What is done to keep it attached.
  public var policies = AttachmentPolicies()
  /// How often it is asked by itself.
  public var polls = PollPolicy()
  /// Whether commands that change something in it, and bytes that may, can be sent to it by who asks for that.
  public var allowsWrites = false

  /// Bits a second, where the device is a serial line.
  public var baudRate: UInt32 {
    get { transport.terminal.baudRate }
    set { transport.terminal.baudRate = newValue }
  }

  /// Time after opening until the first byte is sent or taken, where the device is a serial line.
  public var settle: Duration {
    get { transport.terminal.settle }
    set { transport.terminal.settle = newValue }
  }

  /// A profile for serial lines of 115,200 baud that need no time to settle.
  public init(name: String, rules: [DeviceRule], driver: String? = nil, protocolStrings: [String] = []) {
    self.name = name
    self.rules = rules
    self.driver = driver
    self.protocolStrings = protocolStrings
  }

  /// The device with the way in that this profile prefers, if it has that.
  public func choosingTransport(_ device: Device) -> Device {
    transport.preferredTransport.flatMap { device.choosing($0) } ?? device
  }
}
