// SPDX-License-Identifier: Apache-2.0

/// Tells a web browser from a client of a device by the first bytes of a connection.
///
/// A page of any web site can have its visitor's browser connect to this machine, and choose most of what is sent. But all
/// begins with the request line of HTTP, which has a method, a space and a path.
struct RequestLineGuard {
  enum Verdict: Equatable {
    /// No browser: all that has come, also what was held back.
    case pass([UInt8])
    /// Not known yet.
    case hold
    /// A browser.
    case refuse
  }

  private var seen: [UInt8] = []

  /// What a browser's first line begins with. "PRI * HTTP/2.0" begins HTTP/2.
  private static let beginnings: [[UInt8]] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"].map { Array("\($0) /".utf8) }
    + ["OPTIONS *", "PRI * HTTP/"].map { Array($0.utf8) }

  /// Looks at more that came.
  mutating func take(_ bytes: [UInt8]) -> Verdict {
    seen += bytes
    var mayBe = false
    for beginning in Self.beginnings {
      if seen.starts(with: beginning) { return .refuse }
      if beginning.starts(with: seen) { mayBe = true }
    }
    return mayBe ? .hold : .pass(giveUp())
  }

  /// What was held back; to be called when nothing more came for a while.
  mutating func giveUp() -> [UInt8] {
    defer { seen = [] }
    return seen
  }
}
