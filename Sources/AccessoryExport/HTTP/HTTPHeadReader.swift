// SPDX-License-Identifier: Apache-2.0

/// Finds the head of the one request of an HTTP client in its bytes. The client is disconnected after the reply.
package struct HTTPHeadReader: Sendable {
  private var bytes: [UInt8] = []
  private let bodyLimit: Int
  /// The bytes after the head, as far as they are wanted.
  package private(set) var rest: [UInt8] = []
  /// How many bytes were searched for the end.
  private var searched = 0
  /// Whether `next` has returned the head.
  package private(set) var isDone = false

  /// A reader that keeps at most `bodyLimit` bytes of what follows the head.
  package init(bodyLimit: Int = 0) { self.bodyLimit = bodyLimit }

  /// Takes bytes from the client.
  package mutating func take(_ more: [UInt8]) {
    if isDone {
      rest += more.prefix(bodyLimit - rest.count)
    } else {
      bytes += more.prefix(HTTPRequest.limit + 1 + bodyLimit)
    }
  }

  /// The head, once: nil until it is complete, and an inner nil if it is too long.
  package mutating func next() -> [UInt8]?? {
    guard !isDone else { return nil }
    if let end = end(), end <= HTTPRequest.limit {
      isDone = true
      rest = Array(bytes[end...].prefix(bodyLimit))
      defer { bytes = [] }
      return .some(Array(bytes[..<end]))
    }
    guard bytes.count > HTTPRequest.limit else { return nil }
    (isDone, bytes) = (true, [])
    return .some(nil)
  }

  /// The index after the first empty line. A client that sends single bytes costs no more than one that doesn't.
  private mutating func end() -> Int? {
    while searched + 4 <= bytes.count {
      if bytes[searched] == 13, bytes[searched + 1] == 10, bytes[searched + 2] == 13, bytes[searched + 3] == 10 {
        return searched + 4
      }
      searched += 1
    }
    return nil
  }
}
