// SPDX-License-Identifier: Apache-2.0

/// The parameters that define a cyclic redundancy check, in the terms of the Rocksoft model.
///
/// Registers are at most 32 bits wide. The values are written as in that model: the polynomial without its highest term
/// and most significant bit first, whether or not the algorithm is reflected.
public struct CRCParameters: Sendable, Hashable {
  /// The name in the CRC RevEng catalogue, such as `CRC-16/IBM-3740`.
  public let name: String
  /// Width of the register in bits, 1…32.
  public let width: Int
  /// The generator polynomial without its highest term, most significant bit first.
  public let polynomial: UInt32
  /// The register before the first byte (in the unreflected notation of the model).
  public let initial: UInt32
  /// Whether both bytes and result are reflected, that is, taken least significant bit first.
  ///
  /// The model keeps two flags, `refin` and `refout`; every algorithm here sets them alike.
  public let reflected: Bool
  /// The value that is combined with the register by exclusive or at the end.
  public let xorOut: UInt32
  /// The checksum of the nine ASCII bytes `123456789`.
  public let check: UInt32

  /// Parameters for an algorithm that is not in `catalogue`.
  ///
  /// - Precondition: `width` is 1…32, and no value is wider than `width` bits.
  public init(
    name: String, width: Int, polynomial: UInt32, initial: UInt32, reflected: Bool, xorOut: UInt32, check: UInt32
  ) {
    precondition((1...32).contains(width), "a CRC register is 1 to 32 bits wide")
    let mask = UInt32.max >> UInt32(32 - width)
    precondition((polynomial | initial | xorOut | check) & ~mask == 0, "a CRC parameter is wider than the register")
    self.name = name
    self.width = width
    self.polynomial = polynomial
    self.initial = initial
    self.reflected = reflected
    self.xorOut = xorOut
    self.check = check
  }
}

extension CRCParameters {
  /// CRC-16/IBM-3740, also called CCITT-FALSE and AUTOSAR.
  public static let crc16IBM3740 = CRCParameters(
    name: "CRC-16/IBM-3740", width: 16, polynomial: 0x1021, initial: 0xFFFF, reflected: false, xorOut: 0,
    check: 0x29B1)

  /// CRC-16/XMODEM.
  public static let crc16XMODEM = CRCParameters(
    name: "CRC-16/XMODEM", width: 16, polynomial: 0x1021, initial: 0, reflected: false, xorOut: 0, check: 0x31C3)

  /// CRC-16/KERMIT.
  public static let crc16KERMIT = CRCParameters(
    name: "CRC-16/KERMIT", width: 16, polynomial: 0x1021, initial: 0, reflected: true, xorOut: 0, check: 0x2189)

  /// CRC-16/IBM-SDLC, also called X-25: the frame check sequence of HDLC and PPP.
  public static let crc16IBMSDLC = CRCParameters(
    name: "CRC-16/IBM-SDLC", width: 16, polynomial: 0x1021, initial: 0xFFFF, reflected: true, xorOut: 0xFFFF,
    check: 0x906E)

  /// CRC-16/MCRF4XX: the checksum of MAVLink.
  public static let crc16MCRF4XX = CRCParameters(
    name: "CRC-16/MCRF4XX", width: 16, polynomial: 0x1021, initial: 0xFFFF, reflected: true, xorOut: 0, check: 0x6F91)

  /// CRC-16/ARC.
  public static let crc16ARC = CRCParameters(
    name: "CRC-16/ARC", width: 16, polynomial: 0x8005, initial: 0, reflected: true, xorOut: 0, check: 0xBB3D)

  /// CRC-16/MODBUS.
  public static let crc16MODBUS = CRCParameters(
    name: "CRC-16/MODBUS", width: 16, polynomial: 0x8005, initial: 0xFFFF, reflected: true, xorOut: 0, check: 0x4B37)

  /// CRC-8/MAXIM-DOW.
  public static let crc8MaximDOW = CRCParameters(
    name: "CRC-8/MAXIM-DOW", width: 8, polynomial: 0x31, initial: 0, reflected: true, xorOut: 0, check: 0xA1)
  /// CRC-8/SMBUS.
  public static let crc8SMBUS = CRCParameters(
    name: "CRC-8/SMBUS", width: 8, polynomial: 0x07, initial: 0, reflected: false, xorOut: 0, check: 0xF4)

  /// CRC-32/ISO-HDLC, the CRC-32 of Ethernet and zlib.
  public static let crc32ISOHDLC = CRCParameters(
    name: "CRC-32/ISO-HDLC", width: 32, polynomial: 0x04C1_1DB7, initial: 0xFFFF_FFFF, reflected: true,
    xorOut: 0xFFFF_FFFF, check: 0xCBF4_3926)

  /// CRC-32/ISCSI, also called Castagnoli or CRC-32C.
  public static let crc32ISCSI = CRCParameters(
    name: "CRC-32/ISCSI", width: 32, polynomial: 0x1EDC_6F41, initial: 0xFFFF_FFFF, reflected: true,
    xorOut: 0xFFFF_FFFF, check: 0xE306_9283)

  /// Every algorithm that has a constant here.
  public static let catalogue: [CRCParameters] = [
    .crc16IBM3740, .crc16XMODEM, .crc16KERMIT, .crc16IBMSDLC, .crc16MCRF4XX, .crc16ARC, .crc16MODBUS, .crc8SMBUS,
    .crc8MaximDOW,
    .crc32ISOHDLC, .crc32ISCSI,
  ]
}
