// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into messages, each of which ends with a NUL. A value without I/O.
package struct MessageSplitter: Sendable {
  /// What there is to take.
  package enum Next: Sendable, Equatable {
    /// A message, without its NUL.
    case message([UInt8])
    /// No whole one yet.
    case nothing
    /// A message that is longer than allowed. The stream can't be read any further.
    case tooLong
  }

  /// The longest message that is taken, in bytes.
  package let limit: Int
  private var bytes: [UInt8] = []
  /// Where the next message begins, and up to where there is no NUL.
  private var start = 0
  private var searched = 0

  /// Takes messages of up to `limit` bytes.
  package init(limit: Int) { self.limit = limit }

  /// Bytes that are kept.
  package var count: Int { bytes.count - start }

  /// False when enough is kept for the longest message: what comes then can wait where it is.
  package var wantsMore: Bool { count <= limit }

  /// Keeps `new` bytes.
  package mutating func append(_ new: UnsafeRawBufferPointer) {
    if start > count {  // so that a byte is moved once at most
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: new)
  }

  /// Takes out the next message. Looks at each byte once.
  package mutating func next() -> Next {
    let end = bytes[searched...].firstIndex(of: 0)
    guard let end else {
      searched = bytes.count
      return count > limit ? .tooLong : .nothing
    }
    guard end - start <= limit else { return .tooLong }
    let message = Array(bytes[start..<end])
    start = end + 1
    searched = start
    return .message(message)
  }

  /// Takes out all that is kept, which is no longer to be cut.
  package mutating func takeRest() -> [UInt8] {
    defer { (bytes, start, searched) = ([], 0, 0) }
    return Array(bytes[start...])
  }
}
