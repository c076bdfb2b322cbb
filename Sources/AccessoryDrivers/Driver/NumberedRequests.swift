// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// The requests by number that the accessories of a driver take, so that a user can send one that the driver doesn't
/// know: a number, which may have a name, and a payload.
package struct NumberedRequests: Sendable {
  /// The protocol's name in messages.
  package let protocolName: String
  /// The names that a user may type, in lower case, in the order of messages.
  package let named: [(name: String, number: UInt8)]
  /// The name of any request in documents.
  package let name: @Sendable (UInt8) -> String
  /// The named command by which the driver sends a request, with its arguments as a user types them.
  package let words: @Sendable (_ number: UInt8, _ payload: [UInt8]) -> [String]
  /// The reply in words; nil when its format isn't known, or the payload doesn't have it.
  package let reply: @Sendable (_ payload: [UInt8], _ number: UInt8) -> (summary: String, fields: [FrameField])?

  package init(
    protocolName: String, named: [(name: String, number: UInt8)], name: @escaping @Sendable (UInt8) -> String,
    words: @escaping @Sendable (_ number: UInt8, _ payload: [UInt8]) -> [String],
    reply: @escaping @Sendable (_ payload: [UInt8], _ number: UInt8) -> (summary: String, fields: [FrameField])?
  ) {
    (self.protocolName, self.named) = (protocolName, named)
    (self.name, self.words, self.reply) = (name, words, reply)
  }

  /// The names, for messages: "identify, status, battery, echo".
  package var names: String { named.map(\.name).joined(separator: ", ") }

  /// The number of the request that a word names, or gives like 0x7E.
  package func number(_ word: String) -> UInt8? {
    let word = word.lowercased()
    if let known = named.first(where: { $0.name == word }) { return known.number }
    return word.hasPrefix("0x") ? UInt8(word.dropFirst(2), radix: 16) : nil
  }
}

extension DriverLibrary {
  /// The requests by number of the driver that takes them. Without one they have no names.
  package var numberedRequests: NumberedRequests {
    drivers.lazy.compactMap(\.requests).first
      ?? NumberedRequests(
        protocolName: "", named: [], name: { Hexadecimal.string([$0]) }, words: { _, _ in [] }, reply: { _, _ in nil })
  }
}
