// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The check of a received frame that isn't the one of its bytes: the frame is damaged, or the framing describes another check.
public struct CheckMismatch: Sendable, Hashable, CustomStringConvertible {
  /// The bytes of the check in the frame, as they were received.
  public let received: [UInt8]
  /// What they should be by the framing.
  public let calculated: [UInt8]
  /// Whether both are digits: hexadecimal or decimal ones.
  let isText: Bool

  package init(received: [UInt8], calculated: [UInt8], isText: Bool) {
    (self.received, self.calculated, self.isText) = (received, calculated, isText)
  }

  /// "the check is 5A, calculated 7C", for people.
  public var description: String { "the check is \(text(received)), calculated \(text(calculated))" }

  private func text(_ bytes: [UInt8]) -> String {
    let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) }
    return isText && isPlain ? String(decoding: bytes, as: UTF8.self) : Hexadecimal.string(bytes)
  }
}
