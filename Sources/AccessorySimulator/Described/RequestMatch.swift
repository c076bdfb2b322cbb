// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Compares bytes that arrived with what a described request sends.
enum RequestMatch {
  /// What bytes are of a request.
  enum Result: Hashable {
    /// All of it, in so many bytes.
    case whole(byteCount: Int)
    /// Its beginning.
    case begun
    /// Something else.
    case other
  }

  /// Whether a frame's body is that of the request.
  static func fits(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ body: [UInt8]
  ) -> Bool {
    match(parts, request, body) == .whole(byteCount: body.count)
  }

  /// What `bytes` begin with.
  static func match(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ bytes: [UInt8]
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
      case .argument(let name):
        guard let argument = request.arguments.first(where: { $0.name == name }) else { return .other }
        if let format = argument.format {
          guard rest.count >= format.byteCount else { return .begun }
          rest = rest.dropFirst(format.byteCount)
        } else {
          let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == 0x2D }
          if digits.isEmpty { return rest.isEmpty ? .begun : .other }
          rest = rest.dropFirst(digits.count)
        }
      }
    }
    return .whole(byteCount: bytes.count - rest.count)
  }
}
