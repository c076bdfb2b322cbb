// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A parameter of a Bluno, which can be asked for or set in AT mode. The raw values are the words on the wire.
public enum BlunoParameter: String, Sendable, Hashable, CaseIterable {
  /// The board's function: one of `choices`.
  case function = "FSM"
  /// `ROLE_CENTRAL` or `ROLE_PERIPHERAL`.
  case role = "ROLE"
  /// The shortest time between two transmissions, in milliseconds.
  case minimumInterval = "MIN_INTERVAL"
  /// The longest time between two transmissions, in milliseconds.
  case maximumInterval = "MAX_INTERVAL"
  /// The serial line's bit rate, in bits a second.
  case speed = "UART"
  /// The address of the device that it connects to, with `UNIQUE` as connect mode.
  case bind = "BIND"
  /// `UNIQUE` or `ANYONE`: whether it connects only to the device with the bound address.
  case connectMode = "CMODE"
  /// Its own address.
  case address = "MAC"
  /// Its name, of at most 13 bytes.
  case name = "NAME"
  /// `DEFAULT`, `DEFPERIPHERAL` or `DEFCENTRAL`; it reads `UNKNOWN` after any change of a parameter.
  case setting = "SETTING"
  /// Whether bytes that its processor sends are copied to USB: `ON` or `OFF`.
  case blunoDebug = "BLUNODEBUG"
  /// Whether bytes that arrive by radio are copied to USB: `ON` or `OFF`.
  case usbDebug = "USBDEBUG"
  /// The transmission power in dBm: 0, 4, −6, −23.
  case power = "TXPOWER"
  /// Whether it sends as an iBeacon: `ON` or `OFF`.
  case beacons = "IBEACONS"
  /// The iBeacon's major number.
  case major = "MAJOR"
  /// The iBeacon's minor number.
  case minor = "MINOR"
  /// Its firmware's version, such as `V1.97`.
  case version = "VERSION"
  /// The signal strength of the connection in dBm; `-000` without a connection.
  case signalStrength = "RSSI"
  /// The keys that it presses when it acts as a keyboard (firmware 1.6 and later).
  case key = "KEY"

  /// Whether the parameter can only be asked for.
  public var isReadOnly: Bool { [.address, .version, .signalStrength].contains(self) }

  /// The reply of a board with factory settings; `nil` where boards differ.
  public var factoryText: String? {
    switch self {
    case .function: "FSM_TRANS_USB_COM_BLE"
    case .role: "ROLE_PERIPHERAL"
    case .minimumInterval, .maximumInterval: "10"
    case .speed: "115200,8,N,1"
    case .bind: "0x8A6D3B8A6D3B"
    case .connectMode: "ANYONE"
    case .name: "Bluno"
    case .blunoDebug: "ON"
    case .usbDebug: "OFF"
    case .power: "000"
    case .major, .minor: "00000"
    case .signalStrength: "-000"
    default: nil
    }
  }

  /// The allowed values as they are written, for parameters that are one of a few words or numbers; otherwise `nil`.
  public var choices: [String]? {
    switch self {
    case .function: ["FSM_TRANS_USB_COM_BLE", "FSM_HID_USB_COM_BLE_AT"]
    case .role: ["ROLE_CENTRAL", "ROLE_PERIPHERAL"]
    case .connectMode: ["UNIQUE", "ANYONE"]
    case .setting: ["DEFAULT", "DEFPERIPHERAL", "DEFCENTRAL"]
    case .blunoDebug, .usbDebug, .beacons: ["ON", "OFF"]
    case .power: ["0", "4", "-6", "-23"]
    default: nil
    }
  }

  /// The allowed numbers, for parameters with a range of numbers; otherwise `nil`.
  public var range: ClosedRange<Int>? {
    switch self {
    case .minimumInterval, .maximumInterval: 1...9_999
    case .speed: 300...1_000_000
    case .major, .minor: 0...65_535
    default: nil
    }
  }

  /// Checks a value, and returns the text that is sent for it.
  ///
  /// - Throws: `BlunoError` if the parameter can't be set to this value.
  func checked(_ value: String) throws(BlunoError) -> String {
    if isReadOnly { throw .readOnly(self) }
    guard !value.isEmpty, value != "?", value.utf8.count <= BlunoLimits.value, WireText.isFreeOfControls(value) else {
      throw .notSendable(argument: rawValue)
    }
    if let choices, !choices.contains(value) { throw .notSendable(argument: rawValue) }
    if let range {
      guard let number = WireText.decimal(Array(value.utf8)[...]) else { throw .notSendable(argument: rawValue) }
      guard range.contains(number) else { throw .outOfRange(argument: rawValue, value: number, range: range) }
    }
    if self == .name, value.utf8.count > BlunoLimits.name { throw .notSendable(argument: rawValue) }
    if self == .bind {
      guard let address = Self.address(value) else { throw .notSendable(argument: rawValue) }
      return "0x" + address.digits.lowercased()
    }
    return value
  }

  /// An address as a Bluno writes it, with `0x` in front or without.
  static func address(_ text: String) -> BluetoothAddress? {
    BluetoothAddress(text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : text)
  }
}

/// Limits and default settings of a Bluno.
public enum BlunoLimits {
  /// The factory setting of the bit rate, in bits a second; with eight data bits, no parity, one stop bit.
  public static let baudRate = 115_200
  /// The longest name, in bytes.
  public static let name = 13
  /// The longest value that is sent, in bytes.
  public static let value = 64
  /// The longest line of a reply that is accepted, in bytes.
  public static let reply = 256
  /// How long to send nothing after the board starts. Opening its line makes it start.
  public static let settle = Duration.seconds(2)
}
