// SPDX-License-Identifier: Apache-2.0

/// A USB serial chip that is built into thousands of different devices. Its ids and factory strings say nothing about
/// the device, so a profile that matches only these would match unrelated devices.
///
/// The ids are from the kernel's drivers (drivers/usb/serial: ftdi_sio, cp210x, ch341, pl2303, oti6858, ark3116) and
/// the CDC class; the strings are those that the chips have from the factory.
struct GenericChip: Sendable, Hashable {
  var name: String
  var vendor: UInt16
  var product: UInt16
  /// The strings that the chip has from the factory.
  var stock: [Stock]
  /// The class of its USB interface.
  var interfaceClass: UInt8 = 0xFF
  /// Serial numbers that many of these chips share.
  var serials: [String] = []

  /// The manufacturer and the product string, if the chip has them.
  struct Stock: Sendable, Hashable {
    var manufacturer: String?
    var product: String?
  }

  private init(
    _ name: String, _ vendor: UInt16, _ product: UInt16, _ strings: [(String?, String?)], class: UInt8 = 0xFF,
    serials: [String] = []
  ) {
    self.name = name
    self.vendor = vendor
    self.product = product
    stock = strings.map { Stock(manufacturer: $0, product: $1) }
    interfaceClass = `class`
    self.serials = serials
  }

  static let all = [
    GenericChip("FTDI FT232", 0x0403, 0x6001, [("FTDI", "FT232R USB UART"), ("FTDI", "USB <-> Serial")]),
    GenericChip("FTDI FT2232", 0x0403, 0x6010, [("FTDI", "Dual RS232"), ("FTDI", "Dual RS232-HS")]),
    GenericChip("FTDI FT4232H", 0x0403, 0x6011, [("FTDI", "Quad RS232-HS")]),
    GenericChip("FTDI FT232H", 0x0403, 0x6014, [("FTDI", "Single RS232-HS"), ("FTDI", "USB <-> Serial Converter")]),
    GenericChip("FTDI FT230X", 0x0403, 0x6015, [("FTDI", "FT230X Basic UART"), ("FTDI", "FT231X USB UART")]),
    GenericChip(
      "CP210x", 0x10C4, 0xEA60,
      [
        ("Silicon Labs", "CP2102 USB to UART Bridge Controller"),
        ("Silicon Labs", "CP2104 USB to UART Bridge Controller"),
        ("Silicon Labs", "CP2102N USB to UART Bridge Controller"),
      ], serials: ["0001"]),
    GenericChip(
      "CP2105", 0x10C4, 0xEA70, [("Silicon Labs", "CP2105 Dual USB to UART Bridge Controller")], serials: ["0001"]),
    GenericChip(
      "CP2108", 0x10C4, 0xEA71, [("Silicon Labs", "CP2108 Quad USB to UART Bridge Controller")], serials: ["0001"]),
    GenericChip("CH340", 0x1A86, 0x7523, [(nil, "USB Serial"), (nil, "USB2.0-Serial"), ("QinHeng Electronics", nil)]),
    GenericChip("CH340K", 0x1A86, 0x7522, [(nil, "USB Serial")]),
    GenericChip("CH341", 0x1A86, 0x5523, [(nil, "USB Serial"), (nil, "USB2.0-Ser!")]),
    GenericChip("CH343", 0x1A86, 0x55D3, [(nil, "USB Single Serial")], class: 0x02),
    GenericChip("CH9102", 0x1A86, 0x55D4, [(nil, "USB Single Serial"), (nil, "USB Serial")], class: 0x02),
    GenericChip(
      "PL2303", 0x067B, 0x2303,
      [("Prolific Technology Inc.", "USB-Serial Controller"), ("Prolific Technology Inc.", "USB-Serial Controller D")]),
    GenericChip("PL2303G", 0x067B, 0x23A3, [("Prolific Technology Inc.", "USB-Serial Controller")]),
    GenericChip("MCP2221", 0x04D8, 0x00DD, [("Microchip Technology Inc.", "MCP2221 USB-I2C/UART Combo")], class: 0x02),
    GenericChip("OTi-6858", 0x0EA0, 0x6858, [(nil, nil)]),
    GenericChip("ARK3116", 0x6547, 0x0232, [(nil, nil)]),
  ]
}
