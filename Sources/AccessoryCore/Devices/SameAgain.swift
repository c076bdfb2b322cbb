// SPDX-License-Identifier: Apache-2.0

/// Tells whether an accessory that has come is the one that was there before: it has the same identity and, where the identity isn't
/// unique, the same port. Whoever waits for an accessory asks this.
package struct SameAgain: Sendable, Hashable {
  private let identity: String
  private let port: String
  private let unit: Int?
  /// Whether nothing but the name that the user typed says what the accessory is.
  private let isNamed: Bool
  /// The address, and the link that the user typed.
  private let address: DeviceAddress
  private let link: String?
  /// Whether another accessory has the same identity, or may have: then only the one at the same port is meant.
  package let isBound: Bool
  /// Whether the whole line is meant.
  package let isLine: Bool
  /// The name by which the accessory is found again.
  package let name: String

  /// What says that `device` is back. `others` are devices that are present while it isn't, or beside it: one of them with its
  /// identity is another accessory. With `isLine` the whole line is meant.
  package init(_ device: Device, beside others: [Device] = [], isLine: Bool = false) {
    let device = isLine ? device.line : device
    self.isLine = isLine
    (identity, port, unit, address) = (device.lineIdentity, device.port, device.unit, device.address.ofAnyAdapter)
    (isNamed, link) = (device.source == .named, device.link)
    isBound =
      device.hasTwin
      || device.hasSharableIdentity
        && (others.contains(where: device.isTwin)
          || device.hasSteadyPort && !SerialNumber.isDistinctive(device.serialNumber ?? ""))
    name = isBound ? device.identityAtPort + device.unitSuffix : device.id
  }

  /// The port at which alone the accessory counts as the same; nil where its identity is enough.
  package var boundPort: String? { isBound ? port : nil }

  /// Whether this is the same accessory.
  package func fits(_ other: Device) -> Bool {
    guard unit == nil || unit == other.unit else { return false }
    let isThere = other.address.ofAnyAdapter == address
    if isNamed {
      return isThere || other.terminal == address.node && address.node != nil || link != nil && other.link == link
    }
    // A path leads to whatever is there, until a source tells what it is. An address on the air or on a network is an identity.
    if other.source == .named { return other.address.node == nil && isThere }
    guard other.lineIdentity == identity else { return false }
    return other.port == port || !isBound && !other.hasTwin
  }

  /// Whether this is another accessory with the same identity.
  package func isTwin(_ other: Device) -> Bool { other.lineIdentity == identity && !fits(other) }

  /// The names by which to look for the accessory, where the user has typed `text`.
  package func names(_ text: String?) -> [String] {
    isBound || text == name ? [name] : [text, name].compactMap { $0 }
  }
}

extension Device {
  /// Where it is plugged in: the port of a USB device as the kernel names it, udev's name of the place of another device, the link to a
  /// simulator, otherwise the address. It stays the same when nodes get other numbers.
  package var port: String {
    if let usb { return usb.port }
    if source == .simulator, let link { return link }
    return links.first { $0.contains("/by-path/") } ?? address.ofAnyAdapter.description
  }

  /// Whether the port is one that comes back: a simulator's pseudo-terminal may get another number.
  fileprivate var hasSteadyPort: Bool { port != address.ofAnyAdapter.description }

  /// The identity of the line with its port: "0001@1-1.4".
  package var identityAtPort: String { hasSharableIdentity ? "\(lineIdentity)@\(port)" : lineIdentity }

  /// The accessory's name in calls to the service that holds it. It means no other accessory, whatever comes and goes: it is the identity
  /// with the port, behind a word with which no name begins that a user types. Nil where nothing but the address is known.
  package var key: String? {
    guard source != .named else { return nil }
    return Self.keyWord + (lineIdentity.hasSuffix(port) ? lineIdentity : "\(lineIdentity)@\(port)") + unitSuffix
  }

  /// The word with which keys begin.
  package static let keyWord = "key:"

  /// Whether two devices may have this identity: it is a serial number. Every other identity contains the place.
  var hasSharableIdentity: Bool {
    serialNumber?.isEmpty == false && source != .named && bluetooth == nil && supply == nil
      && address.files == nil
  }

  /// Whether both are accessories of their own with the same identity.
  package func isTwin(of other: Device) -> Bool {
    hasSharableIdentity && other.hasSharableIdentity && lineIdentity == other.lineIdentity && port != other.port
      && !isOnLine(of: other)
  }
}

/// What the text of a serial number says about it.
package enum SerialNumber {
  /// Whether a serial number looks as if no other device had it. "0001", "000000000000", "123456789" and "0123456789ABCDEF" are those of
  /// many: makers leave in place what the chip's example has.
  package static func isDistinctive(_ text: String) -> Bool {
    let letters = text.uppercased().filter { $0.isLetter || $0.isNumber }
    let rest = letters.drop { $0 == "0" }
    guard rest.count >= 4, Set(rest).count > 1 else { return false }
    return !["123456789ABCDEF0", "1234567890ABCDEF", "12345678901234567890", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"].contains {
      $0.hasPrefix(rest)
    }
  }
}
