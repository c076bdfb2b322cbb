// SPDX-License-Identifier: Apache-2.0

/// A question of bluetoothd to the user during pairing, or something to show.
package enum PairingQuestion: Sendable, Equatable {
  /// Asks for the device's PIN, of 1 to 16 bytes. Old devices have a fixed one, such as 0000 or 1234.
  case pin
  /// Asks for the number that the device shows, of at most six digits.
  case passkey
  /// Asks whether the device shows the same number.
  case isSame(UInt32)
  /// Asks whether to pair the device without a number.
  case isAllowed
  /// Shows a PIN that the user must type at the device.
  case typePIN(String)
  /// Shows a number that the user must type at the device, and how many digits the user has typed.
  case typePasskey(UInt32, typedCount: Int)

  /// Whether it needs an answer.
  package var needsAnswer: Bool {
    switch self {
    case .pin, .passkey, .isSame, .isAllowed: true
    case .typePIN, .typePasskey: false
    }
  }

  /// A passkey as devices show it: six digits.
  package static func digits(_ passkey: UInt32) -> String {
    let text = String(passkey)
    return String(repeating: "0", count: max(0, 6 - text.utf8.count)) + text
  }
}

/// The user's answer.
package enum PairingAnswer: Sendable, Equatable {
  /// The user agreed, or there was nothing to answer.
  case yes
  /// The user refused, or there is no user to ask.
  case no
  case pin(String)
  /// The number.
  case passkey(UInt32)
}
