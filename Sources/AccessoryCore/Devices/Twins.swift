// SPDX-License-Identifier: Apache-2.0

/// The identities that several accessories have, as two adapters have the serial number 0001. Once two of them were present at the
/// same time, the port belongs to the identity of each, whichever comes first, and whoever leaves: `Device.hasTwin` is set.
package struct Twins: Sendable, Hashable {
  /// The identities of lines that several accessories have. For each, the port of the one that has what was recorded before that was
  /// known; nil while nobody has it.
  private var heirs: [String: String?] = [:]
  /// The ports of the present devices, by the identities of their lines.
  private var present: [String: [Device]] = [:]

  /// The greatest number of identities that are remembered.
  package static let limit = 1_024

  package init() {}

  /// These devices, marked where two of them are twins.
  package static func marked(_ devices: [Device]) -> [Device] {
    let namesakes = Dictionary(grouping: devices.filter(\.hasSharableIdentity), by: \.lineIdentity)
    return devices.map { device in
      var device = device
      if namesakes[device.lineIdentity]?.contains(where: device.isTwin) == true { device.hasTwin = true }
      return device
    }
  }

  /// The device, marked if its identity is that of several.
  package func marked(_ device: Device) -> Device {
    guard device.hasSharableIdentity, heirs[device.lineIdentity] != nil else { return device }
    var device = device
    device.hasTwin = true
    return device
  }

  // MARK: - Devices that come and go

  /// A device is there now. Returns the present ones that have become twins by that, as they were before.
  package mutating func came(_ device: Device) -> [Device] {
    guard device.hasSharableIdentity else { return [] }
    let others = present[device.lineIdentity] ?? []
    present[device.lineIdentity] = others + [device]
    guard heirs[device.lineIdentity] == nil, heirs.count < Self.limit, others.contains(where: device.isTwin) else {
      return []
    }
    heirs[device.lineIdentity] = .some(nil)
    return others
  }

  /// A device is gone.
  package mutating func went(_ device: Device) {
    guard var others = present[device.lineIdentity] else { return }
    if let index = others.firstIndex(where: { $0.address == device.address }) { others.remove(at: index) }
    present[device.lineIdentity] = others.isEmpty ? nil : others
  }

  // MARK: - What was recorded before

  /// Whether what was recorded for the identity alone belongs to this one of the twins. The first that asks gets it.
  package mutating func inherits(_ device: Device) -> Bool {
    guard let heir = heirs[device.lineIdentity] else { return true }
    if heir == nil { heirs[device.lineIdentity] = device.port }
    return heir == nil || heir == device.port
  }

  // MARK: - A text to keep

  private static let head = "accessory-bridge twins 1"

  /// What is remembered, as a text: a line for each identity, with the heir's port after a tab. What contains control characters isn't
  /// kept.
  package var text: String {
    let lines = heirs.sorted { $0.key < $1.key }.map { identity, port in "\(identity)\t\(port ?? "")" }
    let kept = lines.filter { line in line.unicodeScalars.count { $0.value < 0x20 } == 1 }
    return ([Self.head] + kept).map { $0 + "\n" }.joined()
  }

  /// Remembers what a text says. Lines that can't be read are left out. Returns false where it is no such text.
  package mutating func take(_ text: String) -> Bool {
    let lines = text.split(separator: "\n")
    guard lines.first == Self.head[...] else { return false }
    for line in lines.dropFirst() where heirs.count < Self.limit {
      let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { continue }
      heirs[String(parts[0])] = .some(parts[1].isEmpty ? nil : String(parts[1]))
    }
    return true
  }
}
