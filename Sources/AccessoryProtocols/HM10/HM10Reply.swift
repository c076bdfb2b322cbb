// SPDX-License-Identifier: Apache-2.0

/// What an HM-10 says: replies, and what it tells of its own accord.
///
/// Texts are as the module or a stranger's device sent them, control characters included; bytes that aren't UTF-8 are
/// repaired. Escape them before showing them.
public enum HM10Reply: Sendable, Hashable {
  /// `OK`.
  case ok
  /// `OK+START` and the like.
  case acknowledged(Acknowledgement)
  /// `OK+Get:` and a value; a battery's in newer versions, too.
  case get(String)
  /// `OK+Set:` and the value that is set now. `OK+SetName:` means the same.
  case set(String)
  /// Its own address.
  case address(BluetoothAddress)
  /// The address of the last device that it was connected to.
  case lastAddress(BluetoothAddress)
  /// A name: its own, or of a device that was just found.
  case name(String)
  /// The charge of its battery in percent, 0…100, as older versions tell it.
  case battery(Int)
  /// A signal's strength in dBm: of a connection, or of a device that was just found.
  case signalStrength(Int)
  /// What becomes of connecting.
  case connection(Connection)
  /// The connection is no more.
  case lost
  /// Part of what a scan finds.
  case discovery(Discovery)
  /// `OK+`, a word, a colon and a text that is none of the above.
  case value(name: String, text: String)
  /// A plus sign, a word, a colon or an equals sign and a text: how clones answer.
  case clone(name: String, text: String)
  /// Anything else: a version, help, or noise.
  case text([UInt8])

  /// What was done.
  public enum Acknowledgement: String, Sendable, Hashable, CaseIterable {
    /// The words behind `OK+`.
    case start = "START"
    case clear = "CLEAR"
    case sleep = "SLEEP"
    case wake = "WAKE"
    case renew = "RENEW"
    case reset = "RESET"
  }

  /// What becomes of connecting.
  public enum Connection: Sendable, Hashable {
    /// There is a connection, to this device if it says so.
    case made(BluetoothAddress?)
    /// It tries to connect to the address that it was given.
    case accepted
    /// It tries to connect to the device with this index.
    case tryingIndex(Int)
    /// It tries to connect to the one of the last time.
    case tryingLast
    /// There is no last time.
    case noAddress
    /// It doesn't try.
    case error
    /// It tried in vain.
    case failed
  }

  /// Part of what a scan finds.
  public enum Discovery: Sendable, Hashable {
    /// A scan begins.
    case began(Kind)
    /// A device, with the type of its address if it says so, 0…2. Its strength and its name may follow.
    case found(BluetoothAddress, type: Int?)
    /// An iBeacon.
    case beacon(HM10Beacon)
    /// An advertisement as it was sent.
    case advertisement(HM10Advertisement)
    /// The scan is over.
    case ended

    /// What is scanned for, by the letter with which the word ends.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// `OK+DISCS`, `OK+DISIS`, `OK+DISAS`; some modules say the second in the place of the third.
      case devices = "C"
      case beacons = "I"
      case advertisements = "A"
    }
  }

  /// The charge of the battery in percent, in whichever form it came; `nil` if this is none.
  public var batteryPercent: Int? {
    switch self {
    case .battery(let percent): percent
    case .get(let text): Self.percent(Array(text.utf8)[...])
    default: nil
    }
  }

  /// The text of a reply that has no form, such as a version.
  public var plainText: String? {
    guard case .text(let bytes) = self else { return nil }
    return String(decoding: WireText.withoutLineEnds(bytes[...]), as: UTF8.self)
  }

  /// Always three digits: fewer are the beginning of a reply of which the rest was lost.
  static func percent(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.count == 3, let value = WireText.decimal(digits), value <= 100 else { return nil }
    return value
  }
}
