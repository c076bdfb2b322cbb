// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A file that lists devices that the system doesn't report, such as devices on the network.
package struct DeviceList: ValueReader {
  /// A device of the list.
  package struct Entry: Sendable, Hashable {
    /// The device's address.
    package let address: DeviceAddress
    /// The name of the profile with which the device is opened; nil for the profile that matches the device, if there is one.
    package let profile: String?

    package init(_ address: DeviceAddress, profile: String? = nil) { (self.address, self.profile) = (address, profile) }
  }

  package let file: String
  package var problems: [ProfileProblem] = []
  package static var places: [KnownKeys.Place] { [("an entry of devices", entryKeys)] }
  private static let entryKeys = ["at", "profile"]
  /// The most devices in a list.
  package static let limit = 256

  private let profiles: [String]

  /// Reads the devices in a YAML text of up to 64 KiB. `file` is the file's name in the problems; `profiles` are the names of the known
  /// profiles. Throws up to 20 problems at a time.
  package static func read(
    _ bytes: [UInt8], file: String, profiles: [String]
  ) throws(ProfileProblems) -> [Entry] {
    var reader = DeviceList(file: file, profiles: profiles)
    return try reader.read(yaml: bytes) { $0.entries($1) }
  }

  /// Reads the devices in a file. Throws the same problems, and one if the file can't be read. Blocks, so call it on a `SetupQueue`.
  package static func read(path: String, profiles: [String]) throws(ProfileProblems) -> [Entry] {
    try read(try SettingsFile.contents(of: path), file: path, profiles: profiles)
  }

  private mutating func entries(_ node: YAMLNode) -> [Entry] {
    guard let fields = fields(node, "a list of devices", ["devices"]) else { return [] }
    guard let devices = fields["devices"] else {
      report(node.mark, "devices are missing: devices: [{at: tcp:10.0.0.7:5000, profile: NAME}]")
      return []
    }
    var entries: [Entry] = []
    for element in list(devices, "devices", limit: Self.limit) ?? [] {
      guard let entry = entry(element) else { continue }
      if entries.contains(where: { $0.address == entry.address }) {
        report(element.mark, "\(entry.address) is there twice")
      }
      entries.append(entry)
    }
    return entries
  }

  private mutating func entry(_ node: YAMLNode) -> Entry? {
    if case .scalar = node.content { return address(node).map { Entry($0) } }
    guard let fields = fields(node, "a device", Self.entryKeys) else { return nil }
    guard let at = fields["at"] else {
      report(node.mark, "at is missing: where the device is, like tcp:10.0.0.7:5000")
      return nil
    }
    var profile: String?
    if let node = fields["profile"] { profile = word(node, "a profile", among: profiles) }
    return address(at).map { Entry($0, profile: profile) }
  }

  private mutating func address(_ node: YAMLNode) -> DeviceAddress? {
    guard let text = text(node, "an address", limit: 1_024) else { return nil }
    guard let address = DeviceAddress(text), address.transport.mustBeNamed else {
      report(node.mark, "an address is \(TransportKind.namedForms), not \(Quoted.text(text))")
      return nil
    }
    return address
  }
}
