// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery
import AccessoryLink

/// Settings for one kind of accessory: which devices are of that kind, how to open them, and which driver they need.
public struct Profile: Sendable, Hashable {
  /// The profile's name. Of profiles with the same name only one counts.
  public var name: String
  /// A description for the user.
  public var description: String?
  /// The profile applies to a device that at least one of these rules matches.
  public var rules: [DeviceRule]
  /// How to open the device.
  public var transport = TransportSettings()
  /// The name of the driver, or of a described protocol; nil when there is none, and clients use the raw bytes.
  public var driver: String?
  /// The protocol's description, if it is part of the profile; then `driver` is its name.
  public var described: DescribedProtocol?
  /// The values of the described protocol's parameters, by name: numbers that the accessory doesn't report.
  public var parameters: [String: Double] = [:]
  /// The protocol strings of the ExternalAccessory interface, in reverse-DNS form. Its clients select accessories by
  /// these, so a profile without any is invisible to them.
  public var protocolStrings: [String]
  /// When the next request may be sent.
  public var pacing = Pacing.reply
  /// How the service keeps the accessory attached.
  public var policies = AttachmentPolicies()
  /// How often the service polls the accessory.
  public var polls = PollPolicy()
  /// The units on the line; nil means that the accessory is alone there.
  public var units: UnitChoice?
  /// Whether commands that change the accessory, and raw bytes that may, can be sent by a caller that asks for permission.
  public var allowsWrites = false
  /// Whether a service connects a device on the air that a rule matches, and searches for it, without anybody naming it.
  public var allowsConnecting = false
  /// The endpoints at which the service shares the accessory with other programs of this machine; nil for none.
  public var sharing: ProfileSharing?
  /// The resets of the board by DTR and RTS, which `bridge` runs with exact times when an RFC 2217 client begins one; nil for none.
  public var reset: ProfileReset?
  /// The rules of alarms by which the service watches the accessory. No two have the same name.
  public var alarms: [AlarmRule] = []
  /// From where on the battery of this UPS counts as low; nil where only the UPS itself says so.
  public var lowLimit: LowLimit?
  /// Whether the profile comes with a driver.
  var origin = ProfileOrigin()

  /// The baud rate of a serial line, in bits per second.
  public var baudRate: UInt32 {
    get { transport.terminal.baudRate }
    set { transport.terminal.baudRate = newValue }
  }

  /// The time after opening a serial line before the first byte is sent or accepted.
  public var settle: Duration {
    get { transport.terminal.settle }
    set { transport.terminal.settle = newValue }
  }

  /// A profile with the default settings: 115,200 baud, and no time to settle.
  public init(name: String, rules: [DeviceRule], driver: String? = nil, protocolStrings: [String] = []) {
    self.name = name
    self.rules = rules
    self.driver = driver
    self.protocolStrings = protocolStrings
  }

  /// The wishes for a source to find this profile's devices; empty if the profile doesn't allow connecting.
  package var wishes: [DeviceWish] {
    guard allowsConnecting else { return [] }
    return rules.compactMap { rule in
      guard let wanted = rule.bluetooth else { return nil }
      let isClassic = transport.preferredTransport == .rfcomm || wanted.service == .serialPort
      return DeviceWish(
        isClassic ? .rfcomm : .ble, service: wanted.service, adapter: transport.bluetoothAdapter
      ) { rule.fits($0) }
    }
  }

  /// The device with the transport that this profile prefers, if the device has it.
  public func choosingTransport(_ device: Device) -> Device {
    transport.preferredTransport.flatMap { device.choosing($0) } ?? device
  }
}

/// The units on a line with several accessories.
public enum UnitChoice: Sendable, Hashable {
  /// The units with these numbers, sorted.
  case list([Int])
  /// The units that answer a search.
  case scan
}

extension Profile {
  /// The accessories on a device's line: the device once for each unit that the profile lists, or else as it is.
  public func accessories(on device: Device) -> [Device] {
    guard device.unit == nil, case .list(let units)? = units else { return [device] }
    return units.map { device.onLine(unit: $0) }
  }

  /// Whether the profile allows this unit on the line; nil stands for an accessory that is alone on it.
  package func hasAccessory(_ unit: Int?) -> Bool {
    switch units {
    case nil: unit == nil
    case .list(let units): unit.map(units.contains) ?? false
    case .scan: unit != nil
    }
  }
}

extension ProfileStore {
  /// The accessories on a device's line: the device once for each unit that its profile lists, or else as it is.
  public func accessories(on device: Device) -> [Device] {
    profile(for: device)?.accessories(on: device) ?? [device]
  }
}

extension DeviceEvent {
  /// The same event, once for each accessory on the device's line according to these profiles.
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
