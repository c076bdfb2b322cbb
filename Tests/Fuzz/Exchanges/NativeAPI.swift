// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ESPHomeAPI

@testable import AccessoryExport

/// A client of the native API that sends what the input says: to a server in plain text, or to an encrypted one, in pieces of the input's
/// choice.
enum NativeAPI {
  private static let key = Array(0...31 as ClosedRange<UInt8>)
  private static let number = NativeEntity(
    device: 7, key: 6, name: "L", kind: .number(minimum: 0, maximum: 9, step: 1, unit: "A"))
  private static let words = ["on", "off"]

  private static var box: NativeBox {
    var box = NativeBox(name: "b", friendlyName: "B", mac: [2, 0, 0, 0, 0, 1], version: "1")
    let charge = NativeEntity(
      device: 7, key: 5, name: "Charge", kind: .sensor(unit: "%", decimals: 0, stateClass: .measurement))
    box.devices = [.init(id: 7, name: "x", area: "y")]
    box.entities = [charge, number]
    box.entities += [.select(words), .toggle, .textInput(5), .button].map {
      NativeEntity(device: 7, key: 6, name: "S", kind: $0)
    }
    box.states = [charge.id: .number(5)]
    return box
  }

  /// Talks twice, in one piece and in small ones, which must make no difference.
  static func talk(_ bytes: [UInt8]) {
    let isEncrypted = bytes[0] & 1 == 1
    let whole = run(bytes, isEncrypted, size: 1 << 20)
    let cut = run(bytes, isEncrypted, size: Int(bytes[0] >> 1) % 7 + 1)
    precondition(
      whole.bytes == cut.bytes && whole.commands == cut.commands && whole.end == cut.end, "the pieces make a difference"
    )
    for command in whole.commands {
      switch command.value {
      case .number(let value): precondition(value >= 0 && value <= 9)
      case .text(let text): precondition(words.contains(text) || text.count <= 5)
      case .press, .flag: break
      }
    }
  }

  private static func run(_ bytes: [UInt8], _ isEncrypted: Bool, size: Int) -> NativeSession.Outcome {
    let line = NativeLine(psk: isEncrypted ? key : nil, name: "box", mac: "020000000001") { Array(0x40...0x5F) }
    var session = NativeSession(line, connection: 1)
    let ports = [NativePort(name: "a"), NativePort(name: "b", hasModemLines: false, absence: "gone")]
    var table = NativePortTable(ports)
    var all = NativeSession.Outcome()
    for start in stride(from: 1, to: bytes.count, by: size) {
      let outcome = session.take(Array(bytes[start..<min(start + size, bytes.count)]), box, &table)
      all.bytes += outcome.bytes
      all.commands += outcome.commands
      for call in outcome.calls { precondition(ports.indices.contains(call.port)) }
      all.end = outcome.end
      if all.end != nil { return all }
    }
    return all
  }
}
