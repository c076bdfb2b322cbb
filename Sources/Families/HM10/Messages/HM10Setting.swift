// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A setting of an HM-10 whose value is a number.
public enum HM10Setting: String, Sendable, Hashable, CaseIterable {
  /// Whether the module reports that a connection was made or lost: 0 or 1.
  case notify = "NOTI"
  /// Whether such reports contain the address (since V534): 0 or 1.
  case notifyAddress = "NOTP"
  /// An `HM10Role`. Takes effect after a reset.
  case role = "ROLE"
  /// Whether the module waits for commands after its start: 0 or 1. A central that scans needs 1. Takes effect after a
  /// reset.
  case immediate = "IMME"
  /// An `HM10Speed`. Takes effect after a reset.
  case speed = "BAUD"
  /// An `HM10Mode`.
  case mode = "MODE"
  /// Whether and how a connection requires the PIN: 0…3.
  case type = "TYPE"
  /// An `HM10Power`.
  case power = "POWE"
  /// An `HM10Parity`.
  case parity = "PARI"
  /// The stop bits: 0 for one, 1 for two.
  case stopBits = "STOP"
  /// What a scan reports besides addresses: 0 nothing, 1 names, 2 signal strengths, 3 both. V539 knows 0 and 1.
  case show = "SHOW"
  /// The duration of a scan in seconds: 1…9 (V6 and later).
  case scanTime = "SCAN"
  /// How long connecting may take, in milliseconds: 0…9999 (V6 and later).
  case connectTime = "TCON"
  /// The PIN: 0…999999.
  case pin = "PASS"
  /// The short UUID of the service.
  case service = "UUID"
  /// The short UUID of the characteristic.
  case characteristic = "CHAR"

  /// The allowed values.
  public var range: ClosedRange<Int> {
    switch self {
    case .notify, .notifyAddress, .role, .immediate, .stopBits: 0...1
    case .mode, .parity: 0...2
    case .type, .power, .show: 0...3
    case .speed: 0...8
    case .scanTime: 1...9
    case .connectTime: 0...9_999
    case .pin: 0...999_999
    case .service, .characteristic: 0...0xFFFF
    }
  }

  /// The factory setting; `nil` where the datasheet doesn't say.
  public var factoryValue: Int? {
    switch self {
    case .role, .mode, .speed, .pin: 0
    case .scanTime: 3
    case .service: 0xFFE0
    case .characteristic: 0xFFE1
    default: nil
    }
  }

  /// The word in the command that changes the setting.
  var setName: String { self == .pin ? "PIN" : rawValue }

  /// A value as it is sent: `0xFFE0`, `000000`, `4`.
  func text(_ value: Int) -> String {
    switch self {
    case .service, .characteristic: "0x" + WireText.hexadecimal(UInt64(max(0, value)), digits: 4)
    case .pin, .connectTime: WireText.decimal(value, digits: 6)
    default: String(value)
    }
  }

  /// The value in such a text; `nil` if the text is no value, or the value is outside of the range.
  public func value(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    let number: Int? =
      switch self {
      case .service, .characteristic:
        WireText.rest(of: bytes[...], behind: "0x").flatMap { WireText.hexadecimal($0) }.flatMap { Int(exactly: $0) }
      default: WireText.decimal(bytes[...])
      }
    return number.flatMap { range.contains($0) ? $0 : nil }
  }
}

/// The role of an HM-10 in a connection.
public enum HM10Role: Int, Sendable, Hashable, CaseIterable {
  /// Other devices find it and connect to it.
  case peripheral
  /// It scans for other devices and connects to them.
  case central
}

/// What an HM-10 does besides passing bytes on.
public enum HM10Mode: Int, Sendable, Hashable, CaseIterable {
  /// Nothing else.
  case transparent
  /// It accepts commands from the other side, also commands for its pins.
  case pinsAndRemote
  /// It accepts commands from the other side.
  case remote
}

/// The transmission power of an HM-10.
public enum HM10Power: Int, Sendable, Hashable, CaseIterable {
  /// −23, −6, 0 and 6 dBm.
  case minus23, minus6, zero, plus6

  /// The power in dBm.
  public var decibels: Int { [-23, -6, 0, 6][rawValue] }
}

/// The parity on an HM-10's serial line.
public enum HM10Parity: Int, Sendable, Hashable, CaseIterable {
  /// The parities.
  case none, even, odd
}

/// The bit rate of an HM-10's serial line.
public enum HM10Speed: Int, Sendable, Hashable, CaseIterable {
  /// Rates in bits a second. At 1200 the module accepts no commands until its button is pressed.
  case b9600, b19200, b38400, b57600, b115200, b4800, b2400, b1200, b230400

  /// The rate in bits a second.
  public var bitsPerSecond: Int { [9_600, 19_200, 38_400, 57_600, 115_200, 4_800, 2_400, 1_200, 230_400][rawValue] }

  /// The case with this rate in bits a second; nil if there is none.
  public init?(bitsPerSecond: Int) {
    guard let speed = Self.allCases.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
    self = speed
  }
}
