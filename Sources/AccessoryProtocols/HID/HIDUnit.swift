// SPDX-License-Identifier: Apache-2.0

/// The unit of a HID value, as far as power devices have it. HID writes units as products of centimetre, gram, second, kelvin and
/// ampere (HID 1.11, 6.2.2.7), so volts and watts come with a power of ten.
public enum HIDUnit: Sendable, Hashable {
  /// A number without a unit.
  case none
  case volt
  case ampere
  /// Watts and volt-amperes: HID doesn't tell them apart.
  case watt
  case hertz
  case kelvin
  case second
  /// Ampere seconds, of a capacity.
  case ampereSecond
  /// Another unit: the four bytes of the descriptor.
  case other(UInt32)

  /// The unit of these four bytes.
  public init(code: UInt32) {
    self =
      switch code {
      case 0: .none
      case 0x00F0_D121: .volt
      case 0x0010_0001: .ampere
      case 0x0000_D121: .watt
      case 0x0000_F001: .hertz
      case 0x0001_0001: .kelvin
      case 0x0000_1001: .second
      case 0x0010_1001: .ampereSecond
      default: .other(code)
      }
  }

  /// One of the unit is ten to this power in centimetres, grams and seconds.
  var exponent: Int {
    switch self {
    case .volt, .watt: 7
    default: 0
    }
  }
}
