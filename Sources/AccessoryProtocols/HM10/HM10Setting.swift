// SPDX-License-Identifier: Apache-2.0

/// What can be set in an HM-10 as a number, and asked for.
public enum HM10Setting: String, Sendable, Hashable, CaseIterable {
  /// Whether connections and their loss are told: 0 or 1.
  case notify = "NOTI"
  /// Whether that is with the address (since V534): 0 or 1.
  case notifyAddress = "NOTP"
  /// An `HM10Role`. Takes effect after a reset.
  case role = "ROLE"
  /// Whether it waits for commands when it is turned on: 0 or 1. A central must, to scan. Takes effect after a reset.
  case immediate = "IMME"
  /// An `HM10Speed`. Takes effect after a reset.
  case speed = "BAUD"
  /// An `HM10Mode`.
  case mode = "MODE"
  /// Whether and how a connection needs the PIN: 0…3.
  case type = "TYPE"
  /// An `HM10Power`.
  case power = "POWE"
  /// An `HM10Parity`.
  case parity = "PARI"
  /// 0 is one stop bit, 1 is two.
  case stopBits = "STOP"
  /// What a scan tells besides addresses: 0 nothing, 1 names, 2 signal strengths, 3 both. V539 knows 0 and 1.
  case show = "SHOW"
  /// How many seconds a scan lasts: 1…9 (V6 and later).
  case scanTime = "SCAN"
  /// How many milliseconds a connection may take: 0…9999 (V6 and later).
  case connectTime = "TCON"
  /// The PIN: 0…999999.
  case pin = "PASS"
  /// The service's short UUID.
  case service = "UUID"
  /// The characteristic's short UUID.
  case characteristic = "CHAR"

  /// What it can be.
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

  /// What it is in a module from the factory; `nil` where the datasheet says nothing.
  public var factoryValue: Int? {
    switch self {
    case .role, .mode, .speed, .pin: 0
    case .scanTime: 3
    case .service: 0xFFE0
    case .characteristic: 0xFFE1
    default: nil
    }
  }

  /// The word by which it is set.
  var setName: String { self == .pin ? "PIN" : rawValue }

  /// A value as it is written: `0xFFE0`, `000000`, `4`.
  func text(_ value: Int) -> String {
    switch self {
    case .service, .characteristic: "0x" + WireText.hexadecimal(UInt64(max(0, value)), digits: 4)
    case .pin, .connectTime: WireText.decimal(value, digits: 6)
    default: String(value)
    }
  }

  /// The value that such a text is; `nil` if it is none, or not within the range.
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

/// What an HM-10 is in a connection.
public enum HM10Role: Int, Sendable, Hashable, CaseIterable {
  /// It is found and connected to.
  case peripheral
  /// It scans and connects.
  case central
}

/// What an HM-10 does besides passing bytes on.
public enum HM10Mode: Int, Sendable, Hashable, CaseIterable {
  /// Nothing.
  case transparent
  /// It takes commands from the other side, for its pins, too.
  case pinsAndRemote
  /// It takes commands from the other side.
  case remote
}

/// How strongly an HM-10 sends.
public enum HM10Power: Int, Sendable, Hashable, CaseIterable {
  /// From −23 to 6 dBm.
  case minus23, minus6, zero, plus6

  /// In dBm.
  public var decibels: Int { [-23, -6, 0, 6][rawValue] }
}

/// The parity on an HM-10's serial line.
public enum HM10Parity: Int, Sendable, Hashable, CaseIterable {
  /// The parities.
  case none, even, odd
}

/// How fast an HM-10's serial line is.
public enum HM10Speed: Int, Sendable, Hashable, CaseIterable {
  /// By bits a second. At 1200 it takes no more commands until its button is pressed.
  case b9600, b19200, b38400, b57600, b115200, b4800, b2400, b1200, b230400

  /// In bits a second.
  public var bitsPerSecond: Int { [9_600, 19_200, 38_400, 57_600, 115_200, 4_800, 2_400, 1_200, 230_400][rawValue] }

  /// The one with so many bits a second.
  public init?(bitsPerSecond: Int) {
    guard let speed = Self.allCases.first(where: { $0.bitsPerSecond == bitsPerSecond }) else { return nil }
    self = speed
  }
}
