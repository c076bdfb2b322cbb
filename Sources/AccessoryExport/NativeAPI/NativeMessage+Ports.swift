// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import ESPHomeAPI

// The messages about serial ports that the server sends.

extension NativeMessage {
  /// The most bytes of a line in one message.
  static let dataLimit = 16_384

  /// A port, as a part of what the box is and can do.
  static func put(_ ports: [NativePort], _ field: Int, in writer: inout ProtobufWriter) {
    for port in ports {
      writer.put(
        field,
        message: { inner in
          inner.put(1, cut(port.name, 120))
          inner.put(2, port.kind.rawValue)
          inner.put(3, port.hasModemLines ? ModemLines.outputs.nativeBits : 0)
        })
    }
  }

  static func capabilities(_ ports: [NativePort]) -> Made {
    make(ID.capabilitiesReply) { put(ports, 4, in: &$0) }
  }

  static func answer(
    _ topic: NativePortTopic, of port: Int, _ status: NativePortStatus, _ text: String = ""
  ) -> Made { answer(topic.rawValue, of: port, status, text) }

  /// The answer to a request with any topic.
  static func answer(_ topic: Int, of port: Int, _ status: NativePortStatus, _ text: String = "") -> Made {
    make(ID.serialReply) {
      $0.put(1, port)
      $0.put(2, topic)
      $0.put(3, status.rawValue)
      $0.put(4, cut(text, 250))
    }
  }

  static func lines(_ lines: ModemLines, of port: Int, _ status: NativePortStatus) -> Made {
    make(ID.serialPins) {
      $0.put(1, port)
      $0.put(2, lines.nativeBits)
      $0.put(3, status.rawValue)
    }
  }

  /// Bytes that came from a line.
  static func data(_ bytes: [UInt8], from port: Int) -> Made {
    make(ID.serialReceived) {
      $0.put(1, port)
      $0.put(2, bytes)
    }
  }

  /// What is at a port. Clients see by it that something was unplugged.
  static func identity(_ port: NativePort, of index: Int) -> Made {
    make(ID.serialIdentity) { writer in
      writer.put(1, index)
      // 1: by the configuration; 2: by USB.
      writer.put(2, port.usb == nil ? 1 : 2)
      guard port.isConnected else { return }
      writer.put(3, 1)
      guard let usb = port.usb else { return }
      writer.put(4, usb.manufacturer)
      writer.put(5, usb.product)
      writer.put(6, usb.serial)
      writer.put(
        7,
        message: { inner in
          inner.put(1, Int(usb.vendorID))
          inner.put(2, Int(usb.productID))
          inner.put(3, Int(usb.version))
          inner.put(4, Int(usb.interface))
          inner.put(5, Int(usb.interfaceClass))
          inner.put(6, usb.portNumber)
        })
    }
  }
}
