// SPDX-License-Identifier: Apache-2.0

/// A value of D-Bus, for messages that a test sends.
package indirect enum WireValue: Sendable {
  case byte(UInt8)
  case boolean(Bool)
  case int16(Int16)
  case uint16(UInt16)
  case uint32(UInt32)
  case text(String)
  case path(String)
  case signature(String)
  /// The place of a descriptor among those of the message.
  case descriptor(UInt32)
  case array(String, [WireValue])
  case entry(WireValue, WireValue)
  case variant(WireValue)

  /// A dictionary of strings and variants.
  package static func properties(_ properties: [(String, WireValue)]) -> WireValue {
    .array("{sv}", properties.map { .entry(.text($0.0), .variant($0.1)) })
  }

  package static func texts(_ texts: [String]) -> WireValue { .array("s", texts.map { .text($0) }) }

  var signature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .uint32: "u"
    case .text: "s"
    case .path: "o"
    case .signature: "g"
    case .descriptor: "h"
    case .array(let element, _): "a" + element
    case .entry(let key, let value): "{" + key.signature + value.signature + "}"
    case .variant: "v"
    }
  }
}

/// Writes values as they are on the wire, the least significant byte first.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }

  private mutating func number(_ number: some FixedWidthInteger, _ size: Int) {
    align(size)
    for shift in 0..<size { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
  }

  mutating func append(_ value: WireValue) {
    switch value {
    case .byte(let byte): bytes.append(byte)
    case .boolean(let value): number(value ? 1 : 0, 4)
    case .int16(let value): number(value, 2)
    case .uint16(let value): number(value, 2)
    case .uint32(let value), .descriptor(let value): number(value, 4)
    case .text(let text), .path(let text):
      number(text.utf8.count, 4)
      bytes += Array(text.utf8) + [0]
    case .signature(let text): bytes += [UInt8(text.utf8.count)] + Array(text.utf8) + [0]
    case .entry(let key, let value):
      align(8)
      append(key)
      append(value)
    case .variant(let value):
      append(.signature(value.signature))
      append(value)
    case .array(let element, let values):
      number(0, 4)
      let place = bytes.count - 4
      align(Self.alignment(element))
      let start = bytes.count
      for value in values { append(value) }
      for shift in 0..<4 { bytes[place + shift] = UInt8(truncatingIfNeeded: (bytes.count - start) >> (8 * shift)) }
    }
  }

  private static func alignment(_ signature: String) -> Int {
    switch signature.first {
    case "y", "g", "v": 1
    case "n", "q": 2
    case "{", "(", "x", "t", "d": 8
    default: 4
    }
  }
}

/// A message of D-Bus, to be sent or received.
package struct WireMessage: Sendable {
  package enum Kind: UInt8, Sendable { case call = 1, reply, error, signal }

  package var kind: Kind
  package var serial: UInt32 = 1
  package var replySerial: UInt32?
  package var path: String?
  package var interface: String?
  package var member: String?
  package var errorName: String?
  package var destination: String?
  package var sender: String?
  package var body: [WireValue] = []
  package var descriptorCount = 0

  package init(_ kind: Kind) { self.kind = kind }

  /// As it is on the wire.
  package var bytes: [UInt8] {
    var content = WireWriter()
    for value in body { content.append(value) }
    var head = WireWriter()
    for byte in [UInt8(ascii: "l"), kind.rawValue, kind == .call ? 0 : 1, 1] { head.append(.byte(byte)) }
    head.append(.uint32(UInt32(content.bytes.count)))
    head.append(.uint32(serial))
    var fields: [(UInt8, WireValue)] = []
    if let path { fields.append((1, .path(path))) }
    if let interface { fields.append((2, .text(interface))) }
    if let member { fields.append((3, .text(member))) }
    if let errorName { fields.append((4, .text(errorName))) }
    if let replySerial { fields.append((5, .uint32(replySerial))) }
    if let destination { fields.append((6, .text(destination))) }
    if let sender { fields.append((7, .text(sender))) }
    if !body.isEmpty { fields.append((8, .signature(body.map(\.signature).joined()))) }
    if descriptorCount > 0 { fields.append((9, .uint32(UInt32(descriptorCount)))) }
    // A structure is written as an entry is: both begin at a multiple of eight.
    head.append(.array("(yv)", fields.map { .entry(.byte($0.0), .variant($0.1)) }))
    head.align(8)
    return head.bytes + content.bytes
  }

  /// The message at the beginning of `bytes`, with the rest of its body unread, and its length; nil when it isn't whole.
  static func read(_ bytes: [UInt8]) -> (message: WireMessage, body: [UInt8], count: Int)? {
    func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
    guard bytes.count >= 16, let kind = Kind(rawValue: bytes[1]) else { return nil }
    let end = 16 + number(12)
    let start = (end + 7) / 8 * 8
    guard bytes.count >= start + number(4) else { return nil }
    var message = WireMessage(kind)
    message.serial = UInt32(number(8))
    var place = 16
    while place < end {
      place = (place + 7) / 8 * 8
      guard place < end else { break }
      let code = bytes[place]
      let type = bytes[place + 2]
      place += 4
      if type == UInt8(ascii: "g") {
        place += Int(bytes[place]) + 2
      } else {
        place = (place + 3) / 4 * 4
        let value = number(place)
        place += 4
        guard type != UInt8(ascii: "u") else { continue }
        let text = String(decoding: bytes[place..<place + value], as: UTF8.self)
        place += value + 1
        switch code {
        case 1: message.path = text
        case 2: message.interface = text
        case 3: message.member = text
        case 4: message.errorName = text
        case 6: message.destination = text
        default: break
        }
      }
    }
    return (message, Array(bytes[start..<start + number(4)]), start + number(4))
  }
}
