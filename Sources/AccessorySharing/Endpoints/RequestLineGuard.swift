// SPDX-License-Identifier: Apache-2.0

/// Detects a web browser by the first bytes of a connection.
///
/// A page of any web site can make its visitor's browser connect to this machine, and choose most of the bytes that it
/// sends. But each request begins with HTTP's request line: a method, a space and a path.
struct RequestLineGuard {
  enum Verdict: Equatable {
    /// Not a browser: all bytes received, including those held back.
    case pass([UInt8])
    /// Not decided yet; the bytes are held back.
    case hold
    /// A browser; the connection is to be closed.
    case refuse
  }

  private var seen: [UInt8] = []

  /// The beginnings of request lines. "PRI * HTTP/2.0" begins HTTP/2.
  private static let beginnings: [[UInt8]] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"].map { Array("\($0) /".utf8) }
    + ["OPTIONS *", "PRI * HTTP/"].map { Array($0.utf8) }

  /// Checks further bytes.
  mutating func take(_ bytes: [UInt8]) -> Verdict {
    seen += bytes
    var mayBe = false
    for beginning in Self.beginnings {
      if seen.starts(with: beginning) { return .refuse }
      if beginning.starts(with: seen) { mayBe = true }
    }
    return mayBe ? .hold : .pass(giveUp())
  }

  /// Returns the bytes held back. Call this when no more bytes have come for a while.
  mutating func giveUp() -> [UInt8] {
    defer { seen = [] }
    return seen
  }
}
