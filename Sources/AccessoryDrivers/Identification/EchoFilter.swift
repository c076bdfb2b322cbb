// SPDX-License-Identifier: Apache-2.0

/// Takes a request's own bytes out of what arrives in front of its answer: adapters for RS-485 that hear themselves give
/// them back, and a request can look like an answer.
struct EchoFilter: Sendable {
  /// Whether all of the request came back.
  private(set) var hasFound = false
  private let request: [UInt8]
  /// How many of its bytes have come so far; nil when something else has.
  private var count: Int?

  init(of request: [UInt8]) {
    self.request = request
    count = request.isEmpty ? nil : 0
  }

  /// What of `bytes` isn't the request. Its first bytes are held back until it is known.
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
