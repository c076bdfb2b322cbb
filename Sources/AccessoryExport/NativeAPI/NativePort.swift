// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// A serial port that clients of the native API may use, one at a time.
package struct NativePort: Sendable, Hashable {
  /// What the port is, by the numbers of the native API.
  package enum Kind: Int, Sendable, Hashable {
    case ttl, rs232, rs485, usb
  }

  /// A USB device as its descriptors tell it: clients make the name below `/dev/serial/by-id` of it.
  package struct USB: Sendable, Hashable {
    /// The descriptors' texts, unchanged; empty for none.
    package var manufacturer, product, serial: String
    package var vendorID, productID: UInt16
    /// The device's version, `bcdDevice`.
    package var version: UInt16
    /// The number and the class of the interface.
    package var interface, interfaceClass: UInt8
    /// The place among the ports of a driver that has several.
    package var portNumber: Int

    package init(
      manufacturer: String, product: String, serial: String, vendorID: UInt16, productID: UInt16, version: UInt16,
      interface: UInt8, interfaceClass: UInt8, portNumber: Int
    ) {
      (self.manufacturer, self.product, self.serial) = (manufacturer, product, serial)
      (self.vendorID, self.productID, self.version) = (vendorID, productID, version)
      (self.interface, self.interfaceClass, self.portNumber) = (interface, interfaceClass, portNumber)
    }
  }

  /// What clients must ask for again when it changes.
  struct Facts: Sendable, Hashable {
    var name: String
    var kind: Kind
    var hasModemLines: Bool
  }

  /// The name by which clients find it: no two ports have the same.
  package var name: String
  package var kind: Kind
  /// Whether DTR and RTS can be set.
  package var hasModemLines: Bool
  /// What it is on USB; nil for another line. It stays when the device is unplugged.
  package var usb: USB?
  /// Why it can't be used now, for people; nil if it can.
  package var absence: String?

  package init(
    name: String, kind: Kind = .usb, hasModemLines: Bool = true, usb: USB? = nil, absence: String? = nil
  ) {
    (self.name, self.kind, self.hasModemLines) = (name, kind, hasModemLines)
    (self.usb, self.absence) = (usb, absence)
  }

  var facts: Facts { Facts(name: name, kind: kind, hasModemLines: hasModemLines) }
  var isConnected: Bool { absence == nil }
}

/// The answers to requests about a port, by their numbers.
enum NativePortStatus: Int, Sendable, Hashable {
  case ok, assumed, error, timedOut, notSupported, inUse, invalid
}

/// What an answer is about, by its number.
enum NativePortTopic: Int, Sendable, Hashable {
  case subscribe, unsubscribe, flush, configure, setLines, setMode
}

/// What a client wants from a port. Its session has checked it.
struct NativePortCall: Sendable, Hashable {
  enum Wish: Sendable, Hashable {
    /// Open the line for this client.
    case subscribe
    case unsubscribe
    /// Answer when the line has sent everything.
    case flush
    /// These settings, all of them.
    case configure(LineChanges)
    /// Which of RTS and DTR are raised; the other is lowered.
    case setLines(ModemLines)
    case getLines
    case write([UInt8])
  }

  var port: Int
  var wish: Wish

  /// What the answer is about; nil for a wish that has another answer or none.
  var topic: NativePortTopic? {
    switch wish {
    case .subscribe: .subscribe
    case .unsubscribe: .unsubscribe
    case .flush: .flush
    case .configure: .configure
    case .setLines: .setLines
    case .getLines, .write: nil
    }
  }
}

/// The ports, and which connection has each of them.
struct NativePortTable: Sendable {
  /// The ports in an order that never changes, since clients know them by their places.
  var ports: [NativePort] = []
  private var owners: [Int: Int] = [:]

  init(_ ports: [NativePort] = []) { self.ports = ports }

  /// The connection that has the port.
  func owner(of port: Int) -> Int? { owners[port] }

  /// Gives a port to a connection, unless another has it.
  mutating func claim(_ port: Int, for connection: Int) -> Bool {
    guard owners[port] ?? connection == connection else { return false }
    owners[port] = connection
    return true
  }

  mutating func free(_ port: Int) { owners[port] = nil }

  /// The ports that a connection has.
  func ports(of connection: Int) -> [Int] { owners.filter { $0.value == connection }.keys.sorted() }
}

extension ModemLines {
  /// The lines by the bits of the native API: 0 is RTS, and 1 is DTR.
  init(native bits: UInt32) {
    self = []
    if bits & 1 != 0 { insert(.rts) }
    if bits & 2 != 0 { insert(.dtr) }
  }

  var nativeBits: Int { (contains(.rts) ? 1 : 0) + (contains(.dtr) ? 2 : 0) }
}
