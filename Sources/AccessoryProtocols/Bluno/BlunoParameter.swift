// SPDX-License-Identifier: Apache-2.0

/// What a Bluno can be asked in AT mode, or what can be set. The raw values are the words on the wire.
public enum BlunoParameter: String, Sendable, Hashable, CaseIterable {
  /// What it does: a `BlunoFunction`'s word.
  case function = "FSM"
  /// `ROLE_CENTRAL` or `ROLE_PERIPHERAL`.
  case role = "ROLE"
  /// The shortest time between two transmissions, in milliseconds.
  case minimumInterval = "MIN_INTERVAL"
  /// The longest.
  case maximumInterval = "MAX_INTERVAL"
  /// The serial line's bits a second.
  case speed = "UART"
  /// The address of the one that it connects to.
  case bind = "BIND"
  /// `UNIQUE` or `ANYONE`: whether it connects only to that one.
  case connectMode = "CMODE"
  /// Its own address.
  case address = "MAC"
  /// Its name, of at most 13 bytes.
  case name = "NAME"
  /// `DEFAULT`, `DEFPERIPHERAL` or `DEFCENTRAL`; `UNKNOWN` after any change.
  case setting = "SETTING"
  /// Whether what its processor sends is told on USB, too: `ON` or `OFF`.
  case blunoDebug = "BLUNODEBUG"
  /// Whether what comes by radio is told on USB, too: `ON` or `OFF`.
  case usbDebug = "USBDEBUG"
  /// How strongly it sends, in dBm: 0, 4, −6, −23.
  case power = "TXPOWER"
  /// Whether it sends as an iBeacon: `ON` or `OFF`.
  case beacons = "IBEACONS"
  /// The iBeacon's numbers.
  case major = "MAJOR"
  /// The second one.
  case minor = "MINOR"
  /// Its firmware's version, such as `V1.97`.
  case version = "VERSION"
  /// The connection's strength in dBm; `-000` without one.
  case signalStrength = "RSSI"
  /// What keys it presses as a keyboard (firmware 1.6 and later).
  case key = "KEY"

  /// Whether it can only be asked for.
  public var isReadOnly: Bool { [.address, .version, .signalStrength].contains(self) }

  /// What a board from the factory answers; `nil` where that isn't the same for all.
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

  /// The values that it can be set to, where they are words or few numbers; as they are written.
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

  /// The numbers that it can be set to, where they are many.
  public var range: ClosedRange<Int>? {
    switch self {
    case .minimumInterval, .maximumInterval: 1...9_999
    case .speed: 300...1_000_000
    case .major, .minor: 0...65_535
    default: nil
    }
  }

  /// The text with which it is set to `value`.
  ///
  /// - Throws: `BlunoError` if it can't be set to that.
  func checked(_ value: String) throws(BlunoError) -> String {
    if isReadOnly { throw .notPossible(self) }
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

/// What a Bluno takes.
public enum BlunoLimits {
  /// Bits a second, as it comes from the factory; eight data bits, no parity, one stop bit.
  public static let baudRate = 115_200
  /// Bytes of a name.
  public static let name = 13
  /// Bytes of a value that are accepted here.
  public static let value = 64
  /// Bytes of a line of a reply that are accepted here.
  public static let reply = 256
  /// How long it must be left alone when it starts, which opening its line makes it do.
  public static let settle = Duration.seconds(2)
}
