// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The characteristics of a Bluetooth Low Energy device that carry its bytes. A characteristic that is nil is searched
/// for: first among the services that makers of modules use, then in the named service.
public struct GATTSettings: Sendable, Hashable {
  /// The service that has both characteristics.
  public var service: BluetoothUUID?
  /// The characteristic that is written.
  public var write: BluetoothUUID?
  /// The characteristic that sends notifications.
  public var notify: BluetoothUUID?
  /// The password for modules that need one before they carry bytes, such as a Bluno; nil means the factory password.
  public var password: String?
  /// The speed, in bits per second, of the line behind a module that must be told it, such as a Bluno. The default is 115,200.
  public var baudRate: UInt32 = 115_200

  /// The bytes to write before the port carries bytes, and their characteristic; nil for none.
  public var greeting: Greeting?

  /// Bytes for a characteristic of their own.
  public struct Greeting: Sendable, Hashable {
    /// The characteristic that is written, in any service.
    public var characteristic: BluetoothUUID
    /// The bytes, at most 20.
    public var bytes: [UInt8]

    /// A greeting of these bytes.
    public init(_ characteristic: BluetoothUUID, _ bytes: [UInt8]) {
      (self.characteristic, self.bytes) = (characteristic, bytes)
    }
  }

  /// Whether no characteristics are named, so that they are looked for.
  package var namesNothing: Bool { service == nil && write == nil && notify == nil }

  /// Creates settings. By default all three are searched for.
  public init(service: BluetoothUUID? = nil, write: BluetoothUUID? = nil, notify: BluetoothUUID? = nil) {
    (self.service, self.write, self.notify) = (service, write, notify)
  }

  /// Reads `SERVICE,WRITE,NOTIFY`, or `SERVICE` alone, with UUIDs of 4 or 32 digits; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { BluetoothUUID($0) }
    guard parts.count == 1 || parts.count == 3, !parts.contains(nil) else { return nil }
    self.init(service: parts[0], write: parts.count == 3 ? parts[1] : nil, notify: parts.count == 3 ? parts[2] : nil)
  }
}

/// A pair of characteristics that carries bytes in both directions. Both may be the same one.
package struct GATTSerialPort: Sendable, Equatable {
  /// The characteristic that is written.
  package let write: GATTCharacteristic
  /// The characteristic that sends notifications.
  package let notify: GATTCharacteristic
  /// The commands to send before the port carries bytes; nil for none.
  package private(set) var greeting: GATTGreeting?

  /// The services that makers of modules use for bytes, in the order of the search.
  package static let known: [(service: BluetoothUUID, write: BluetoothUUID, notify: BluetoothUUID)] = [
    // HM-10 and its many copies.
    (short(0xFFE0), short(0xFFE1), short(0xFFE1)),
    // Nordic UART Service.
    (nordic(1), nordic(2), nordic(3)),
    // DFRobot Bluno.
    (short(0xDFB0), short(0xDFB1), short(0xDFB1)),
    // Modules by ISSC and others.
    (short(0xFFF0), short(0xFFF2), short(0xFFF1)),
    // Battery managers by JBD.
    (short(0xFF00), short(0xFF02), short(0xFF01)),
  ]

  private static func short(_ number: UInt16) -> BluetoothUUID { BluetoothUUID(short: number) }
  private static func nordic(_ number: Int) -> BluetoothUUID {
    BluetoothUUID("6e40000\(number)-b5a3-f393-e0a9-e50e24dcca9e")!
  }

  /// Whether a device that advertises this service probably has a serial port.
  package static func isKnown(_ service: BluetoothUUID) -> Bool { known.contains { $0.service == service } }

  /// Finds the characteristics in the services of a device. Throws `unsupported` when there are none.
  package init(
    in table: [(service: GATTService, characteristics: [GATTCharacteristic])], _ settings: GATTSettings, label: String
  ) throws(AccessoryError) {
    self = try Self.found(in: table, settings, label)
    if let said = settings.greeting { greeting = GATTGreeting(said, in: table.flatMap(\.characteristics)) }
  }

  private static func found(
    in table: [(service: GATTService, characteristics: [GATTCharacteristic])], _ settings: GATTSettings,
    _ label: String
  ) throws(AccessoryError) -> GATTSerialPort {
    if settings.namesNothing {
      for (service, write, notify) in Self.known {
        for entry in table where entry.service.uuid == service {
          guard var port = Self(entry.characteristics, write, notify) else { continue }
          port.greeting = GATTGreeting(entry.service, entry.characteristics, settings)
          return port
        }
      }
    } else {
      for entry in table where settings.service == nil || entry.service.uuid == settings.service {
        guard var port = Self(entry.characteristics, settings.write, settings.notify) else { continue }
        port.greeting = GATTGreeting(entry.service, entry.characteristics, settings)
        return port
      }
      // Some devices have the two characteristics in different services.
      if settings.service == nil, settings.write != nil, settings.notify != nil,
        let port = Self(table.flatMap(\.characteristics), settings.write, settings.notify)
      {
        return port
      }
    }
    throw none(table, settings, label)
  }

  /// The characteristics with these UUIDs; without a UUID, the only one that fits.
  private init?(_ characteristics: [GATTCharacteristic], _ write: BluetoothUUID?, _ notify: BluetoothUUID?) {
    func only(_ uuid: BluetoothUUID?, _ fits: (GATTCharacteristic) -> Bool) -> GATTCharacteristic? {
      let found = characteristics.filter { fits($0) && (uuid == nil || $0.uuid == uuid) }
      return found.count == 1 || uuid != nil ? found.first : nil
    }
    guard let write = only(write, { $0.takesCommands || $0.takesRequests }), let notify = only(notify, \.notifies)
    else {
      return nil
    }
    (self.write, self.notify) = (write, notify)
  }

  private static func none(
    _ table: [(service: GATTService, characteristics: [GATTCharacteristic])], _ settings: GATTSettings, _ label: String
  ) -> AccessoryError {
    /// The first words of a list: a table may have thousands of characteristics.
    func some(_ words: [String], of most: Int) -> String {
      words.prefix(most).joined(separator: ", ") + (words.count > most ? ", …" : "")
    }
    if let service = settings.service, let entry = table.first(where: { $0.service.uuid == service }) {
      func list(_ fits: (GATTCharacteristic) -> Bool) -> String {
        let found = entry.characteristics.filter(fits).compactMap { $0.uuid?.description }
        return found.isEmpty ? "none" : some(found, of: 8)
      }
      return AccessoryError(
        .unsupported,
        "the service \(service) of \(label) doesn't say by itself which characteristics carry its bytes: those that can be "
          + "written are \(list { $0.takesCommands || $0.takesRequests }), those that send are \(list(\.notifies)). Choose one "
          + "of each: --gatt \(service),WRITE,NOTIFY")
    }
    let services = table.compactMap { entry in
      entry.service.uuid.map { service in
        "\(service) (\(some(entry.characteristics.compactMap { $0.uuid?.description }, of: 8)))"
      }
    }
    let has = services.isEmpty ? "it has no services" : "its services are " + some(services, of: 16)
    let what =
      settings.namesNothing
      ? "has no serial port of a known kind" : "doesn't have the characteristics that are named"
    return AccessoryError(
      .unsupported, "\(label) \(what); \(has). Say which ones carry its bytes: --gatt SERVICE,WRITE,NOTIFY")
  }
}
