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
  /// Which accessories are on the line; nil: one.
  public var units: UnitChoice?
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

/// Which of several accessories are on a line.
public enum UnitChoice: Sendable, Hashable {
  /// Those of these numbers, in order.
  case list([Int])
  /// Those that answer.
  case scan
}

extension Profile {
  /// The accessories on a device's line, as far as the profile says: each with its unit, or the device as it is.
  public func accessories(on device: Device) -> [Device] {
    guard device.unit == nil, case .list(let units)? = units else { return [device] }
    return units.map { device.onLine(unit: $0) }
  }

  /// Whether an accessory of this number may be on the line, or nil for one that is alone on it.
  package func hasAccessory(_ unit: Int?) -> Bool {
    switch units {
    case nil: unit == nil
    case .list(let units): unit.map(units.contains) ?? false
    case .scan: unit != nil
    }
  }
}

extension ProfileStore {
  /// The accessories on a device's line, as far as its profile says: each with its unit, or the device as it is.
  public func accessories(on device: Device) -> [Device] {
    profile(for: device)?.accessories(on: device) ?? [device]
  }
}

extension DeviceEvent {
  /// The same of the accessories on the device's line, as far as these profiles say.
  package func onUnits(_ profiles: ProfileStore) -> [DeviceEvent] {
    switch self {
    case .added(let device): return profiles.accessories(on: device).map { .added($0) }
    case .removed(let device): return profiles.accessories(on: device).map { .removed($0) }
    case .changed(let device, let old):
      let (now, before) = (profiles.accessories(on: device), profiles.accessories(on: old))
      return before.filter { one in !now.contains { $0.unit == one.unit } }.map { .removed($0) }
        + now.map { one in before.first { $0.unit == one.unit }.map { .changed(one, from: $0) } ?? .added(one) }
    }
  }
}
