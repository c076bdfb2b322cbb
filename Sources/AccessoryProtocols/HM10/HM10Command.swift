// SPDX-License-Identifier: Apache-2.0

/// What an HM-10 or HM-11 can be asked or told while it is not connected.
///
/// A command goes out in one piece, and the next only behind its reply: nothing else ends it.
public enum HM10Command: Sendable, Hashable {
  /// AT: is anybody there? Ends a connection if there is one.
  case attention
  /// Its own address.
  case address
  /// The address of the last device that it was connected to.
  case lastAddress
  /// Its name.
  case name
  /// Another name, of 1 to 12 bytes of UTF-8.
  case setName(String)
  /// Its version. Of the two commands for that, some modules answer only one.
  case version(VersionForm)
  /// The charge of its battery.
  case battery
  /// The signal's strength, while connected, from the other side.
  case signalStrength
  /// What a setting is.
  case ask(HM10Setting)
  /// Changes a setting.
  case set(HM10Setting, Int)
  /// Begin to work, after it has waited for commands.
  case start
  /// Scan, as a central.
  case discover
  /// Scan for iBeacons (since V539).
  case discoverBeacons
  /// Scan for advertisements as they are sent (V6 and later).
  case discoverAdvertisements
  /// Connect to the device with this index among those found, 0…5.
  case connectIndex(Int)
  /// Connect to a device, which in the second form may be of dual mode.
  case connect(BluetoothAddress, isDual: Bool = false)
  /// Connect to the one of the last time.
  case connectLast
  /// Forget the one of the last time.
  case clear
  /// Sleep; more than 80 bytes wake it.
  case sleep
  /// Back to how it came from the factory.
  case renew
  /// Start anew.
  case reset
  /// What commands there are.
  case help
  /// Anything else that begins with AT: printable ASCII, 80 bytes at most.
  case other(String)

  /// The two commands that ask for the version.
  public enum VersionForm: String, Sendable, Hashable, CaseIterable {
    /// The forms.
    case verr = "VERR"
    case vers = "VERS"
  }

  /// The bytes that are sent.
  ///
  /// A clone's address is asked for by AT+LADDR, and it scans on AT+INQ.
  ///
  /// - Throws: `HM10CommandError` if an argument can't be sent.
  public func encoded(for dialect: HM10Dialect = .genuine) throws(HM10CommandError) -> [UInt8] {
    Array(try text(for: dialect).utf8) + dialect.lineEnd
  }

  /// The command without a line end.
  private func text(for dialect: HM10Dialect) throws(HM10CommandError) -> String {
    switch self {
    case .setName(let name):
      guard (1...HM10Limits.name).contains(name.utf8.count) else { throw .nameLength(byteCount: name.utf8.count) }
      guard name != "?", WireText.isFreeOfControls(name) else { throw .notSendable }
      return "AT+NAME" + name
    case .set(let setting, let value):
      guard setting.range.contains(value) else {
        throw .outOfRange(argument: setting.rawValue, value: value, range: setting.range)
      }
      return "AT+" + setting.setName + setting.text(value)
    case .connectIndex(let index):
      guard HM10Limits.indices.contains(index) else {
        throw .outOfRange(argument: "index", value: index, range: HM10Limits.indices)
      }
      return "AT+CONN\(index)"
    case .other(let text):
      guard text.hasPrefix("AT"), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .notSendable }
      guard text.utf8.count <= HM10Limits.command else { throw .tooLong(byteCount: text.utf8.count) }
      return text
    case .ask(let setting): return "AT+" + setting.rawValue + "?"
    case .version(let form): return "AT+" + form.rawValue + "?"
    case .connect(let address, let isDual): return (isDual ? "AT+CO1" : "AT+CON") + address.digits
    case .address where dialect == .clone: return "AT+LADDR"
    case .discover where dialect == .clone: return "AT+INQ"
    default:
      guard let word = Self.words.first(where: { $0.command == self }) else { preconditionFailure("no word for it") }
      return word.text
    }
  }

  /// Commands that are always the same. The first of two is sent.
  static let words: [(text: String, command: HM10Command)] = [
    ("AT", .attention), ("AT+ADDR?", .address), ("AT+RADD?", .lastAddress), ("AT+NAME?", .name),
    ("AT+BATT?", .battery), ("AT+RSSI?", .signalStrength), ("AT+START", .start), ("AT+DISC?", .discover),
    ("AT+DISI?", .discoverBeacons), ("AT+DISA?", .discoverAdvertisements), ("AT+CONNL", .connectLast),
    ("AT+CLEAR", .clear), ("AT+SLEEP", .sleep), ("AT+RENEW", .renew), ("AT+RESET", .reset), ("AT+HELP?", .help),
    ("AT+LADDR", .address), ("AT+INQ", .discover),
  ]
}

/// Why a command can't be sent, or bytes are none.
public enum HM10CommandError: Error, Sendable, Hashable {
  /// An argument is outside of what it may be.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// A name has so many bytes, and 1 to 12 are possible.
  case nameLength(byteCount: Int)
  /// A text has bytes that can't be sent, or would be another command.
  case notSendable
  /// The command has so many bytes, and 80 are possible.
  case tooLong(byteCount: Int)
  /// The bytes are no command.
  case notACommand
}

extension HM10CommandError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value, let range):
      "\(argument) is \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .nameLength(let byteCount): "a name has 1 to \(HM10Limits.name) bytes, not \(byteCount)"
    case .notSendable: "the text has characters that can't be sent, or means another command"
    case .tooLong(let byteCount): "a command has at most \(HM10Limits.command) bytes, not \(byteCount)"
    case .notACommand: "the bytes are no command"
    }
  }
}
