// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into messages that end with a NUL. Does no I/O.
package struct MessageSplitter: Sendable {
  /// The result of looking for a message.
  package enum Next: Sendable, Equatable {
    /// A message without its NUL.
    case message([UInt8])
    /// No complete message yet.
    case nothing
    /// A message exceeds the limit. The stream can't be split any further.
    case tooLong
  }

  /// The greatest length of a message, in bytes.
  package let limit: Int
  private var bytes: [UInt8] = []
  /// The offset of the next message, and the offset up to which there is no NUL.
  private var start = 0
  private var searched = 0

  /// A splitter for messages of at most `limit` bytes.
  package init(limit: Int) { self.limit = limit }

  /// The number of buffered bytes.
  package var count: Int { bytes.count - start }

  /// False when the buffer could hold the longest message; then the socket needn't be read.
  package var wantsMore: Bool { count <= limit }

  package mutating func append(_ new: UnsafeRawBufferPointer) {
    if start > count {  // so that a byte is moved at most once
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: new)
  }

  /// Removes the next message from the buffer. Each byte is examined once.
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

  /// Removes all buffered bytes, which are no longer messages.
  package mutating func takeRest() -> [UInt8] {
    defer { (bytes, start, searched) = ([], 0, 0) }
    return Array(bytes[start...])
  }
}
