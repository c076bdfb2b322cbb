// SPDX-License-Identifier: Apache-2.0

/// Removes an echo of the request from the bytes before the reply. Some RS-485 adapters receive what they send, and a
/// request can look like a reply.
struct EchoFilter: Sendable {
  /// Whether the whole request was echoed.
  private(set) var hasFound = false
  private let request: [UInt8]
  /// How many bytes of the echo have arrived; nil when the echo is complete, or when other bytes have arrived.
  private var count: Int?

  init(of request: [UInt8]) {
    self.request = request
    count = request.isEmpty ? nil : 0
  }

  /// The bytes that aren't an echo. Bytes that may be the beginning of an echo are kept back until that is certain.
  mutating func filter(_ bytes: [UInt8]) -> [UInt8] {
    guard let before = count else { return bytes }
    let expected = request[before...]
    let same = zip(bytes, expected).prefix { $0 == $1 }.count
    if same == expected.count {
      (hasFound, count) = (true, nil)
      return Array(bytes.dropFirst(same))
    }
    if same == bytes.count {
      count = before + same
      return []
    }
    count = nil
    return request[..<before] + bytes
  }
}
