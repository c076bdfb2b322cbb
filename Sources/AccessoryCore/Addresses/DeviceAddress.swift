// SPDX-License-Identifier: Apache-2.0

/// Where a device is opened: the one value that says which transport leads to it.
///
/// As a text, for people and on the control socket, an address is the path of a node (`/dev/ttyACM0`,
/// `/dev/bus/usb/001/005`) or a scheme and a place (`tcp:HOST:PORT`). `init(_:)` reads what `description` writes.
public enum DeviceAddress: Sendable, Hashable {
  /// A serial port or another terminal: the path of its node.
  case terminal(String)
  /// A device's USB endpoints: the path of its usbfs node.
  case usb(String)
  /// A TCP connection whose bytes are the device's.
  case tcp(NetworkAddress)
  /// A serial port of another machine, by RFC 2217. This version opens none.
  case rfc2217(NetworkAddress)

  /// The address that a text writes out: an absolute path, or a scheme with its place. Nil for anything else, such as a
  /// serial number or a relative path.
  public init?(_ text: String) {
    if text.hasPrefix("/") {
      self = .node(text)
    } else if let place = Self.place(in: text, behind: .tcp) {
      self = .tcp(place)
    } else if let place = Self.place(in: text, behind: .rfc2217) {
      self = .rfc2217(place)
    } else {
      return nil
    }
  }

  /// The address of a device node at `path`: endpoints where it is one of usbfs, otherwise a terminal.
  public static func node(_ path: String) -> DeviceAddress {
    path.hasPrefix(usbNodes) ? .usb(path) : .terminal(path)
  }

  /// Which transport leads there.
  public var transport: TransportKind {
    switch self {
    case .terminal: .terminal
    case .usb: .usb
    case .tcp: .tcp
    case .rfc2217: .rfc2217
    }
  }

  /// The path of the node that is opened; nil where there is none on this machine.
  public var node: String? {
    switch self {
    case .terminal(let path), .usb(let path): path
    case .tcp, .rfc2217: nil
    }
  }

  /// The path of the file that is opened, which says who may: the node, where there is one. Nil for a place on the network.
  public var file: String? { node }

  /// Where the kernel keeps the nodes of USB devices (usbfs).
  private static let usbNodes = "/dev/bus/usb/"

  private static func place(in text: String, behind scheme: TransportKind) -> NetworkAddress? {
    let prefix = scheme.rawValue + ":"
    return text.hasPrefix(prefix) ? NetworkAddress(String(text.dropFirst(prefix.count))) : nil
  }
}

extension DeviceAddress: Comparable, CustomStringConvertible {
  /// The order of their texts, for lists.
  public static func < (a: DeviceAddress, b: DeviceAddress) -> Bool { a.description < b.description }

  /// The path of the node, or `tcp:HOST:PORT`.
  public var description: String {
    switch self {
    case .terminal(let path), .usb(let path): path
    case .tcp(let place), .rfc2217(let place): "\(transport.rawValue):\(place)"
    }
  }
}

/// A kind of transport, under the name that commands, profiles and JSON have for it.
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
  /// A terminal of the kernel.
  case terminal = "tty"
  /// A pair of USB endpoints.
  case usb
  /// A TCP connection.
  case tcp
  /// A serial port of another machine, by RFC 2217.
  case rfc2217
}
