// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// What the tests print.
enum Samples {
  /// A terminal that can do colour, one that can't, and no terminal.
  static let coloured = Style(isTerminal: true, hasColour: true)
  static let terminal = Style(isTerminal: true, hasColour: false)
  static let pipe = Style(isTerminal: false, hasColour: false)

  /// A device of which hardly anything is known.
  static let bare = Device(id: "/dev/ttyS0", path: "/dev/ttyS0", source: .named)

  /// A device of which everything is known.
  static let lamp = Device(
    id: "L1", path: "/dev/ttyACM0", source: .udev, link: "./lamp", driver: "framed", name: "Lamp",
    manufacturer: "Acme",
    model: "L/9", serialNumber: "L1", terminal: "/dev/ttyACM0", links: ["/dev/serial/by-id/lamp"],
    ways: ["tty", "usb"],
    isInitialized: false,
    usb: USBIdentity(
      vendorID: 0x2341, productID: 0x43, bus: 1, address: 5, node: "/dev/bus/usb/001/005", port: "1-2", speed: 1.5,
      damage: "cut off", configuration: 1,
      interfaces: [
        USBInterface(
          description: USBInterfaceDescription(
            number: 0, alternateSetting: 0, function: USBClass(code: 2, subclass: 2, protocol: 1),
            endpoints: [
              USBEndpointDescription(
                address: 0x81, transfer: .interrupt, maxPacketSize: 64, packetsPerInterval: 1, interval: 10)
            ]), driver: "cdc_acm")
      ]))

  /// The document of `bare`, as it stands in others.
  static let bareText =
    joined(
      #"{"access":null,"area":null,"bluetooth":null,"driver":null,"given_name":null,"id":"/dev/ttyS0","initialized":true,"link":null,"links":[],"#,
      #""manufacturer":null,"model":null,"name":null,"path":"/dev/ttyS0","serial":null,"service":null,"#,
      #""source":"named","terminal":null,"unit":null,"usb":null,"ways":[]}"#)
}

/// A long text, in pieces that fit a line.
func joined(_ pieces: String...) -> String { pieces.joined() }
