// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A message of an HM-10: a reply, or a message that it sends unasked.
///
/// Texts are unchanged, with control characters, as the module or another device has sent them; invalid UTF-8 is
/// repaired. Escape them before showing them.
public enum HM10Reply: Sendable, Hashable {
  /// `OK`.
  case ok
  /// `OK+` and a word such as `START`.
  case acknowledged(Acknowledgement)
  /// `OK+Get:` and a value. Newer versions also report a battery's charge in this form.
  case get(String)
  /// `OK+Set:` and the new value. `OK+SetName:` means the same.
  case set(String)
  /// The module's own address.
  case address(BluetoothAddress)
  /// The address of the device to which it was connected last.
  case lastAddress(BluetoothAddress)
  /// A name: the module's, or the name of the device that was found last.
  case name(String)
  /// The charge of its battery in percent, 0…100, in the form of older versions.
  case battery(Int)
  /// A signal strength in dBm: of the connection, or of the device that was found last.
  case signalStrength(Int)
  /// The progress or outcome of connecting.
  case connection(Connection)
  /// The connection was lost.
  case lost
  /// A part of the results of a scan.
  case discovery(Discovery)
  /// `OK+`, a word, a colon and a text, in no form listed above.
  case value(name: String, text: String)
  /// A plus sign, a word, a colon or an equals sign, and a text: the form of clones.
  case clone(name: String, text: String)
  /// Anything else: a version, help, or noise.
  case text([UInt8])

  /// The command that was carried out.
  public enum Acknowledgement: String, Sendable, Hashable, CaseIterable {
    /// The words behind `OK+`.
    case start = "START"
    case clear = "CLEAR"
    case sleep = "SLEEP"
    case wake = "WAKE"
    case renew = "RENEW"
    case reset = "RESET"
  }

  /// The progress or outcome of connecting.
  public enum Connection: Sendable, Hashable {
    /// The module is connected, to the device with this address if the message says so.
    case made(BluetoothAddress?)
    /// The module tries to connect to the given address.
    case accepted
    /// The module tries to connect to the device with this index.
    case tryingIndex(Int)
    /// The module tries to connect to the device to which it was connected last.
    case tryingLast
    /// There is no such last device.
    case noAddress
    /// The module doesn't try to connect.
    case error
    /// The module could not connect.
    case failed
  }

  /// A part of the results of a scan.
  public enum Discovery: Sendable, Hashable {
    /// A scan begins.
    case began(Kind)
    /// A device was found. `type` is the type of its address, 0…2; nil if the message doesn't say. Its signal strength
    /// and its name may follow.
    case found(BluetoothAddress, type: Int?)
    /// An iBeacon was found.
    case beacon(HM10Beacon)
    /// An advertisement, as the device sent it.
    case advertisement(HM10Advertisement)
    /// The scan is over.
    case ended

    /// What a scan looks for. The raw value is the letter in the message.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// `OK+DISCS`, `OK+DISIS`, `OK+DISAS`. Some modules send the second in place of the third.
      case devices = "C"
      case beacons = "I"
      case advertisements = "A"
    }
  }

  /// The charge of the battery in percent, from a reply in either form; `nil` for other replies.
  public var batteryPercent: Int? {
    switch self {
    case .battery(let percent): percent
    case .get(let text): Self.percent(Array(text.utf8)[...])
    default: nil
    }
  }

  /// The text of a `text` reply, such as a version; `nil` for other replies.
  public var plainText: String? {
    guard case .text(let bytes) = self else { return nil }
    return String(decoding: WireText.withoutLineEnds(bytes[...]), as: UTF8.self)
  }

  /// Reads three digits. Fewer digits mean that the rest of the reply was lost.
  static func percent(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.count == 3, let value = WireText.decimal(digits), value <= 100 else { return nil }
    return value
  }
}
