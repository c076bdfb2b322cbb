// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import ESPHomeAPI
import TestSupport

@testable import AccessoryExport

/// Frames of the native API without encryption, as a client makes and reads them.
enum NativeFrames {
  static func frame(_ id: Int, _ fields: (inout ProtobufWriter) -> Void = { _ in }) -> [UInt8] {
    var writer = ProtobufWriter()
    fields(&writer)
    var bytes: [UInt8] = [0]
    Varint.append(UInt64(writer.bytes.count), to: &bytes)
    Varint.append(UInt64(id), to: &bytes)
    return bytes + writer.bytes
  }

  /// A message whose first fields are these numbers.
  static func frame(_ id: Int, _ numbers: Int...) -> [UInt8] {
    frame(id) { writer in for (index, number) in numbers.enumerated() { writer.put(index + 1, number) } }
  }

  /// The messages in what the server sent.
  static func messages(_ bytes: [UInt8]) -> [(id: Int, fields: ProtobufFields)] {
    var line = NativeLine(psk: nil, name: "", mac: "")
    line.take(bytes)
    var found: [(Int, ProtobufFields)] = []
    while case .message(let message) = line.next() {
      ProtobufFields(message.payload).map { found.append((message.id, $0)) }
    }
    return found
  }

  static var box: NativeBox {
    NativeBox(name: "box", friendlyName: "Box", mac: [2, 0, 0, 0, 0, 1], version: "1.0", isEncrypted: false)
  }
}

extension NativeSession {
  /// A session of a server without ports.
  init(_ line: NativeLine) { self.init(line, connection: 1) }

  mutating func take(_ bytes: [UInt8], _ box: NativeBox) -> Outcome {
    var none = NativePortTable()
    return take(bytes, box, &none)
  }

  func isOutdated(_ box: NativeBox) -> Bool { isOutdated(box, NativePortTable()) }
}
