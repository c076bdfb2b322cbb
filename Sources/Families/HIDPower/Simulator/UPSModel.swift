// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import FamilyHIDPower

/// The UPSs that can be simulated, each with its maker's report descriptor.
public enum UPSModel: String, Sendable, Hashable, CaseIterable {
  /// A CyberPower CP1500, whose descriptor its owners have published (NUT's issues 1512 and 2997).
  case cyberpower
  /// An older CyberPower with the same descriptor, which reports its battery voltage as 3/2 of the true one.
  case cyberpower501 = "cyberpower-501"
  /// An APC Back-UPS. The beginning of its descriptor is that of an ES 850G2 (NUT's issue 1304); the rest follows the same form, with
  /// APC's own page.
  case apc
  /// An Eaton or MGE Ellipse. The beginning of its descriptor was published by owners, with status bits in the first report.
  case eaton
  /// The plain form of the class: a power summary and its battery, as microcontroller projects use it.
  case plain

  /// The ids, the strings and the descriptor.
  var identity: SimulatedUSBIdentity {
    var identity = SimulatedUSBIdentity(.reports)
    switch self {
    case .cyberpower:
      (identity.vendorID, identity.productID) = (0x0764, 0x0601)
      (identity.manufacturer, identity.product) = ("CPS", "CP1500EPFCLCD")
    case .cyberpower501:
      (identity.vendorID, identity.productID) = (0x0764, 0x0501)
      (identity.manufacturer, identity.product) = ("CPS", "CP1500AVRLCDa")
    case .apc:
      (identity.vendorID, identity.productID) = (0x051D, 0x0002)
      (identity.manufacturer, identity.product) = ("American Power Conversion", "Back-UPS ES 850G2")
    case .eaton:
      (identity.vendorID, identity.productID) = (0x0463, 0xFFFF)
      (identity.manufacturer, identity.product) = ("EATON", "Ellipse ECO")
    case .plain:
      // An Arduino with a sketch of a HID power device.
      (identity.vendorID, identity.productID) = (0x2341, 0x8036)
      (identity.manufacturer, identity.product) = ("Arduino LLC", "Arduino Leonardo")
    }
    return identity
  }

  /// The report descriptor.
  public var descriptor: [UInt8] {
    switch self {
    case .cyberpower, .cyberpower501: Self.cyberPower
    case .apc: Self.apcDescriptor
    case .eaton: Self.eatonDescriptor
    case .plain: Self.plainDescriptor
    }
  }

  /// Adds the maker's mistakes to a state.
  func spoil(_ state: inout UPSState) {
    guard self == .cyberpower501 else { return }
    (state.nominalVoltage, state.voltageFactor) = (12, 1.5)
  }

  private static func bytes(_ text: String) -> [UInt8] { Hexadecimal.bytes(text.filter { !$0.isWhitespace }) ?? [] }

  private static let cyberPower = bytes(
    """
    05 84 09 04 a1 01 09 24 a1 00 85 01 09 fe 75 08 95 01 15 00 26 ff 00 b1 22 85 02 09 ff b1 22 85 03 05 85 09 8f b1 22
    85 04 09 89 b1 22 85 05 09 8b b1 22 85 06 09 2c b1 22 85 07 75 08 95 06 25 64 09 83 09 8d 09 8e 09 8c 09 29 09 67 b1
    22 85 08 75 08 95 01 65 00 09 66 81 a2 09 66 b1 a2 09 68 75 10 27 ff ff 00 00 66 01 10 81 a2 09 68 b1 a2 09 2a 26 58
    02 81 a2 09 2a b1 a2 85 09 75 08 26 ff 00 05 84 09 40 67 21 d1 f0 00 55 06 b1 22 85 0a 09 30 b1 a2 65 00 55 00 09 02
    a1 02 85 0b 75 01 95 06 25 01 05 85 09 d0 09 44 09 45 09 42 09 46 09 43 81 a2 09 d0 09 44 09 45 09 42 09 46 09 43 b1
    a2 75 02 95 01 81 01 b1 01 c0 85 0c 05 84 09 5a 75 08 15 01 25 03 b1 a2 85 0d 09 fd 15 00 26 ff 00 b1 22 c0 05 84 09
    1a a1 00 85 0e 05 84 09 40 75 08 67 21 d1 f0 00 55 07 b1 22 85 0f 09 30 b1 a2 85 10 09 53 15 5a 25 5a b1 22 09 54 16
    8c 00 26 8c 00 b1 22 c0 09 1c a1 00 85 12 09 30 15 00 26 ff 00 b1 a2 65 00 55 00 85 13 09 35 b1 a2 85 14 09 58 25 06
    b1 a2 85 15 09 57 75 10 15 ff 26 ff 7f 35 c4 47 c4 ff 1d 00 66 01 10 b1 a2 85 16 09 56 b1 a2 85 17 09 6e 75 01 15 00
    25 01 35 00 45 00 65 00 b1 a2 09 65 b1 a2 75 06 b1 01 85 18 75 10 09 44 26 c2 01 66 21 d1 55 07 b1 a2 c0 c0
    """)

  /// The first five lines are a real device's bytes. Report 16 has the status bits, 17 the test, 1a the beeper; then follow the input
  /// and APC's own collection with the delay before the output is switched off.
  private static let apcDescriptor = bytes(
    """
    05 84 09 04 a1 01 09 24 a1 00 85 01 09 fe 79 02 75 08 95 01 15 00 26 ff 00 b1 22 85 02 09 ff 79 03 b1 22 85 03 05 85 09
    89 79 04 b1 22 85 04 09 8f 79 01 b1 22 85 05 09 8b b1 22 85 06 09 44 81 a2 09 44 b1 a2 09 45 81 a2 09 45 b1 a2 06 86 ff
    09 60 81 a2 09 60 b1 a2 85 07 05 85 09 85 75 10 27 ff ff 00 00 b1 a2 85 08 05 84 09 40 67 21 d1 f0 00 55 05 b1 22 85 09
    09 30 b1 a2 85 0a 09 fd 75 08 26 ff 00 65 00 55 00 79 01 b1 22 85 0b 05 85 09 2c b1 22 85 0c 09 66 25 64 81 a2 09 66 b1
    a2 09 68 75 10 27 ff ff 00 00 66 01 10 81 a2 09 68 b1 a2 85 0d 09 83 75 08 25 64 65 00 b1 22 85 0e 09 67 b1 22
    05 84 09 02 a1 02 85 16 75 01 95 01 15 00 25 01 05 85 09 44 81 a2 09 44 b1 a2 09 45 81 a2 09 45 b1 a2 09 d0 81 a2 09 d0
    b1 a2 09 42 81 a2 09 42 b1 a2 09 4b 81 a2 09 4b b1 a2 05 84 09 65 81 a2 09 65 b1 a2 09 69 81 a2 09 69 b1 a2 81 01 b1 01 c0
    85 17 05 84 09 58 75 08 25 06 b1 a2 85 1a 09 5a 15 01 25 03 b1 a2 15 00 c0
    09 1a a1 00 85 31 75 10 27 ff ff 00 00 67 21 d1 f0 00 55 07 09 30 b1 a2 85 30 09 40 b1 22 c0
    06 86 ff 09 05 a1 00 85 41 75 10 16 ff ff 26 ff 7f 66 01 10 55 00 09 7d b1 a2 c0 c0
    """)

  /// The first line is a real device's bytes. Report 1 has the status bits, 6 capacity and time, 7 the load, 8 the battery's voltage,
  /// a the beeper, c the input's voltage and frequency, d the output's voltage, e its delays; then follows the maker's own page.
  private static let eatonDescriptor = bytes(
    """
    05 84 09 04 a1 01 09 24 a1 00 09 02 a1 00 55 00 65 00 85 01 75 01 95 05 15 00 25 01 05 85 09 d0 09 44 09 45 09 42
    0b 65 00 84 00 81 82 09 d0 09 44 09 45 09 42 0b 65 00 84 00 b1 82 75 03 95 01 81 01 b1 01
    85 02 75 01 95 02 05 85 09 4b 0b 69 00 84 00 b1 82 75 06 95 01 b1 01 c0
    85 06 05 85 75 08 95 01 25 64 09 66 81 82 09 66 b1 82 75 20 27 ff ff ff 7f 66 01 10 09 68 81 82 09 68 b1 82 65 00
    85 07 05 84 75 08 26 ff 00 09 35 b1 82 85 08 75 10 27 ff ff 00 00 67 21 d1 f0 00 55 05 09 30 b1 82 09 40 b1 22
    65 00 55 00 85 0a 75 08 15 01 25 03 09 5a b1 82 15 00 c0
    09 1a a1 00 85 0c 75 10 27 ff ff 00 00 67 21 d1 f0 00 55 07 09 30 b1 82 66 01 f0 55 00 09 32 b1 82 c0
    09 1c a1 00 85 0d 67 21 d1 f0 00 55 07 09 30 b1 82 85 0e 75 20 17 ff ff ff ff 27 ff ff ff 7f 66 01 10 55 00
    09 57 b1 82 09 56 b1 82 c0
    06 ff ff 09 e3 75 08 15 00 26 ff 00 65 00 85 e3 b1 82 c0
    """)

  /// A power summary in one collection: report 1 has capacity and time to empty, 2 the voltage, 3 the present status, which the
  /// device also sends by itself, and 4 the settings.
  private static let plainDescriptor = bytes(
    """
    05 84 09 04 a1 01 09 24 a1 00 05 85 85 01 75 08 95 01 15 00 25 64 09 66 b1 a2 09 66 81 a2
    75 10 27 ff ff 00 00 66 01 10 09 68 b1 a2 09 68 81 a2 65 00 05 84 85 02 75 10 95 01 67 21 d1 f0 00 55 05 09 30 b1 a2
    09 40 b1 22 65 00 55 00 09 02 a1 02 85 03 75 01 95 05 15 00 25 01 05 85 09 d0 09 44 09 45 09 42 09 4b b1 a2
    09 d0 09 44 09 45 09 42 09 4b 81 a2 75 03 95 01 81 01 b1 01 c0
    05 84 85 04 75 10 95 01 16 ff ff 26 ff 7f 66 01 10 09 57 b1 a2 65 00 75 08 15 01 25 03 09 5a b1 a2 c0 c0
    """)
}
