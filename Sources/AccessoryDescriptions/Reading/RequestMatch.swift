// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Compares received bytes with a described request.
package enum RequestMatch {
  /// The result of a comparison.
  package enum Result: Hashable, Sendable {
    /// The bytes begin with the whole request, of this length.
    case whole(byteCount: Int)
    /// The bytes are an incomplete beginning of the request.
    case begun
    /// The bytes aren't the request.
    case other
  }

  /// Whether the body of a frame is that of the request.
  package static func fits(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ body: [UInt8], address: Int?
  ) -> Bool {
    match(parts, request, body, address: address) == .whole(byteCount: body.count)
  }

  /// The arguments in the body of a frame, as raw numbers by name; nil when the body isn't that of the request.
  package static func arguments(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ body: [UInt8], address: Int?
  ) -> [String: Int]? {
    var arguments: [String: Int] = [:]
    let result = match(parts, request, body, address: address) { arguments[$0] = $1 }
    return result == .whole(byteCount: body.count) ? arguments : nil
  }

  /// Compares `bytes` with the request. `address` is the unit's number as it is encoded in requests. `found` is called with
  /// each argument that the bytes have, and its raw number.
  package static func match(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ bytes: [UInt8], address: Int?,
    found: (String, Int) -> Void = { _, _ in }
  ) -> Result {
    var rest = bytes[...]
    for part in parts {
      switch part {
      case .element: continue
      case .bytes(let wanted):
        if rest.starts(with: wanted) {
          rest = rest.dropFirst(wanted.count)
        } else {
          return wanted.starts(with: rest) ? .begun : .other
        }
      case .unit(let format):
        guard rest.count >= format.byteCount else { return .begun }
        guard let wanted = address.flatMap(format.bytes), rest.starts(with: wanted) else { return .other }
        rest = rest.dropFirst(wanted.count)
      case .parameter(_, let count):
        let digits = rest.prefix(count).prefix { (0x30...0x39).contains($0) }
        guard digits.count == count else { return digits.count == rest.count ? .begun : .other }
        rest = rest.dropFirst(count)
      case .argument(let name):
        guard let argument = request.arguments.first(where: { $0.name == name }) else { return .other }
        if let format = argument.format {
          guard rest.count >= format.byteCount else { return .begun }
          guard isAllowed(rest.prefix(format.byteCount), format, argument.range) else { return .other }
          let raw = rest.prefix(format.byteCount).enumerated().reduce(UInt64(0)) { raw, byte in
            raw | UInt64(byte.element) << format.shift(ofByte: byte.offset)
          }
          if let number = format.whole(raw) { found(name, number) }
          rest = rest.dropFirst(format.byteCount)
        } else {
          let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == 0x2D }
          if digits.isEmpty { return rest.isEmpty ? .begun : .other }
          if let number = Int(String(decoding: digits, as: UTF8.self)) {
            guard argument.range.contains(number) else { return .other }
            found(name, number)
          }
          rest = rest.dropFirst(digits.count)
        }
      }
    }
    return .whole(byteCount: bytes.count - rest.count)
  }

  /// Whether an argument is in its range. Two requests may differ only in the range of an argument.
  private static func isAllowed(
    _ bytes: ArraySlice<UInt8>, _ format: ProtocolDescription.NumberFormat, _ range: ClosedRange<Int>
  ) -> Bool {
    guard format.encoding == .unsigned, bytes.count < 8 else { return true }
    let ordered = format.order == .bigEndian ? Array(bytes) : bytes.reversed()
    return range.contains(ordered.reduce(0) { $0 << 8 | Int($1) })
  }
}
