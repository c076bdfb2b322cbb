// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery

/// A profile for an accessory that was identified. It matches the port's adapter or, if that isn't possible, the place
/// where the adapter is plugged in.
public struct IdentifiedProfile: Sendable, Hashable {
  /// The profile's name.
  public var name: String
  /// The profile's text, as its file holds it.
  public var text: String
  /// A warning for the user; nil when none is needed.
  public var warning: String?

  /// A profile for the accessory at `device`, which matches none of the `others` that are present now. The default of
  /// `name` is `my-` plus the kind. Returns nil when no rule can match just this port, as for a network connection.
  public init?(
    _ find: IdentificationFind, at device: Device, among others: [Device] = [], name: String? = nil,
    drivers: DriverLibrary
  ) {
    self.init(
      find, at: device, among: others, name: name, like: nil, alarms: [], isForService: false, drivers: drivers)
  }

  /// The same for the service, with these rules of alarms, and with the other settings of the profile `like`. The service may connect a
  /// device on the air.
  package init?(
    _ find: IdentificationFind, at device: Device, among others: [Device], name: String?, like model: Profile?,
    alarms: [AlarmRule], isForService: Bool = true, drivers: DriverLibrary
  ) {
    self.name = name ?? "my-" + find.kind
    for candidate in Self.candidates(device) {
      var lines = Self.lines(self.name, find, candidate.lines, drivers)
      if device.address.bluetooth != nil, isForService { lines.append("connect: allowed") }
      if !alarms.isEmpty { lines += ["alarms:"] + alarms.map { "  - \(Quoted.whole($0.description))" } }
      let text = lines.map { $0 + "\n" }.joined()
      guard
        let profile = try? ProfileReader.read(
          Array(text.utf8), file: "identify", drivers: drivers, protocols: drivers.protocols),
        let rule = profile.rules.first, rule.fits(device),
        !others.contains(where: { !$0.isSame(as: device) && rule.fits($0) })
      else { continue }
      self.text = model.map { ProfileText.text(profile, like: $0, drivers: drivers) } ?? text
      warning = candidate.isPlace ? Self.warning(candidate.lines, find.kind) : nil
      return
    }
    return nil
  }

  /// Match rules for the port, the most reliable first.
  private static func candidates(_ device: Device) -> [(lines: [String], isPlace: Bool)] {
    var candidates: [(lines: [String], isPlace: Bool)] = []
    if let serial = device.serialNumber, !serial.isEmpty, device.usb?.terminalInterface == nil {
      let usb = device.usb.map {
        "usb: {vendor: \(HexNumber.text($0.vendorID)), product: \(HexNumber.text($0.productID))}"
      }
      candidates.append(([usb, "serial: \(Quoted.whole(serial))"].compactMap { $0 }, false))
    }
    for link in device.links where link.hasPrefix(DeviceRule.byIDDirectory) {
      candidates.append((["by_id: \(Quoted.whole(String(link.dropFirst(DeviceRule.byIDDirectory.count))))"], false))
    }
    if let place = device.address.bluetooth, device.bluetooth?.hasPassingAddress != true {
      candidates.append((["bluetooth: {address: \(Quoted.whole(place.description))}"], false))
    }
    for link in device.links where link.hasPrefix("/dev/serial/by-path/") {
      candidates.append((["path: \(Quoted.whole(link))"], true))
    }
    // A UPS without a serial number: there is rarely a second one of its make.
    if let usb = device.usb, device.terminal == nil {
      let numbers = "vendor: \(HexNumber.text(usb.vendorID)), product: \(HexNumber.text(usb.productID))"
      candidates.append((["usb: {\(numbers)}"], false))
    }
    if let node = device.terminal ?? device.address.node { candidates.append((["path: \(Quoted.whole(node))"], true)) }
    return candidates
  }

  private static func warning(_ rule: [String], _ kind: String) -> String {
    "the adapter has no serial number and no name of its own, so the profile goes by its place (\(rule.joined())): "
      + "any device in that place will be used as \(kind)"
  }

  private static func lines(
    _ name: String, _ find: IdentificationFind, _ rule: [String], _ drivers: DriverLibrary
  ) -> [String] {
    let described = drivers.protocols.described(find.kind)
    var lines = ["name: \(name)"]
    let summary = described?.description.summary ?? drivers.driver(named: find.kind)?.summary ?? ""
    if !summary.isEmpty { lines.append("description: \(Quoted.whole(summary))") }
    lines.append("match:")
    lines += rule.map { "  " + $0 }
    if let line = find.line {
      var settings: [String] = []
      // Profiles inherit the line settings of a described protocol.
      if line.baudRate != described?.line?.baudRate { settings.append("baud: \(line.baudRate)") }
      if let settle = drivers.driver(named: find.kind)?.profiles.first?.settle, settle > .zero {
        settings.append("settle: \(TimeText.text(settle))")
      }
      if !settings.isEmpty { lines += ["transport:", "  tty: {\(settings.joined(separator: ", "))}"] }
    }
    if described?.description.advertisement?.encryption != nil {
      lines += ["# Its key, of 32 hexadecimal digits, belongs into this file.", "transport:"]
      lines.append("  ble: {key_file: /etc/accessory-bridge/keys/\(name)}")
    }
    lines.append(described == nil ? "driver: \(find.kind)" : "protocol: \(find.kind)")
    return lines
  }
}
