// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A command to an HM-10 or HM-11 that is not connected.
///
/// A command must be sent in one piece, and the next one only after its reply, since it has no terminator.
public enum HM10Command: Sendable, Hashable {
  /// `AT`: asks for a sign of life. Ends a connection if there is one.
  case attention
  /// Asks for the module's own address.
  case address
  /// Asks for the address of the device to which it was connected last.
  case lastAddress
  /// Asks for its name.
  case name
  /// Sets its name, 1 to 12 bytes of UTF-8.
  case setName(String)
  /// Asks for its version. Some modules answer only one of the two forms.
  case version(VersionForm)
  /// Asks for the charge of its battery.
  case battery
  /// Asks for the signal strength of the connection; sent from the other side while connected.
  case signalStrength
  /// Asks for the value of a setting.
  case ask(HM10Setting)
  /// Changes a setting.
  case set(HM10Setting, Int)
  /// Starts work, if the module waits for commands after its start.
  case start
  /// Scans for devices, as a central.
  case discover
  /// Scans for iBeacons (since V539).
  case discoverBeacons
  /// Scans for advertisements and reports them unchanged (V6 and later).
  case discoverAdvertisements
  /// Connects to the found device with this index, 0…5.
  case connectIndex(Int)
  /// Connects to the device with this address; `isDual` if it is a dual-mode device.
  case connect(BluetoothAddress, isDual: Bool = false)
  /// Connects to the device to which it was connected last.
  case connectLast
  /// Forgets the device to which it was connected last.
  case clear
  /// Lets the module sleep; more than 80 bytes wake it.
  case sleep
  /// Restores the factory settings.
  case renew
  /// Restarts the module.
  case reset
  /// Asks for a list of commands.
  case help
  /// Any other line that begins with AT: printable ASCII, 80 bytes at most.
  case other(String)

  /// The two commands that ask for the version.
  public enum VersionForm: String, Sendable, Hashable, CaseIterable {
    /// The words of the two commands.
    case verr = "VERR"
    case vers = "VERS"
  }

  /// The bytes that are sent.
  ///
  /// A clone has AT+LADDR in place of AT+ADDR?, and AT+INQ in place of AT+DISC?.
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

  /// Commands without arguments. Of two texts for one command, the first is sent.
  static let words: [(text: String, command: HM10Command)] = [
    ("AT", .attention), ("AT+ADDR?", .address), ("AT+RADD?", .lastAddress), ("AT+NAME?", .name),
    ("AT+BATT?", .battery), ("AT+RSSI?", .signalStrength), ("AT+START", .start), ("AT+DISC?", .discover),
    ("AT+DISI?", .discoverBeacons), ("AT+DISA?", .discoverAdvertisements), ("AT+CONNL", .connectLast),
    ("AT+CLEAR", .clear), ("AT+SLEEP", .sleep), ("AT+RENEW", .renew), ("AT+RESET", .reset), ("AT+HELP?", .help),
    ("AT+LADDR", .address), ("AT+INQ", .discover),
  ]
}

/// Why a command can't be sent, or why bytes are no command.
public enum HM10CommandError: Error, Sendable, Hashable {
  /// An argument is outside of its range.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// A name has `byteCount` bytes; 1 to 12 are allowed.
  case nameLength(byteCount: Int)
  /// A text has characters that can't be sent, or would be another command.
  case notSendable
  /// The command has `byteCount` bytes; at most 80 are allowed.
  case tooLong(byteCount: Int)
  /// The bytes are no command.
  case notACommand
}

extension HM10CommandError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value, let range):
      "\(argument) must be \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .nameLength(let byteCount): "a name must have 1 to \(HM10Limits.name) bytes, not \(byteCount)"
    case .notSendable: "the text has characters that can't be sent, or is another command"
    case .tooLong(let byteCount): "a command has at most \(HM10Limits.command) bytes, not \(byteCount)"
    case .notACommand: "the bytes are not a command"
    }
  }
}
