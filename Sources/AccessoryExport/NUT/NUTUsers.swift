// SPDX-License-Identifier: Apache-2.0

/// The users that may log in, read from a file in the format of NUT's `upsd.users`:
///
///     [monitor]
///       password = secret
///       upsmon primary
///
/// `actions` and `instcmds` are accepted and ignored, since this server is read-only.
package struct NUTUsers: Sendable {
  /// A user.
  struct User: Sendable, Hashable {
    var password: [UInt8]?
    /// Whether the user's `upsmon` may be the primary one, which is the last to shut down.
    var isPrimary = false
  }

  private(set) var users: [String: User] = [:]

  /// The largest file, and the most users.
  static let sizeLimit = 65_536
  private static let userLimit = 256

  /// An error in a file.
  struct Mistake: Error, Hashable {
    var line: Int
    var message: String
  }

  /// Reads the contents of a file.
  init(_ bytes: [UInt8]) throws(Mistake) {
    var current: String?
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, line) in zip(1..., lines) {
      func mistake(_ message: String) -> Mistake { Mistake(line: number, message: message) }
      let code = line.drop { $0 == 0x20 || $0 == 0x09 }
      if code.isEmpty || code.first == UInt8(ascii: "#") || code.first == 0x0D { continue }
      if code.first == UInt8(ascii: "[") {
        guard let end = code.firstIndex(of: UInt8(ascii: "]")),
          let name = NUTLine.words(code[code.index(after: code.startIndex)..<end]),
          name.count == 1
        else {
          throw mistake("a user's part begins with its name, like [monitor]")
        }
        guard users.count < Self.userLimit, users[name[0]] == nil else {
          throw mistake("there are two users of this name, or more than \(Self.userLimit) users")
        }
        users[name[0]] = User()
        current = name[0]
        continue
      }
      // Accept both "password = secret" and "password=secret".
      var text = Array(code)
      if text.last == 0x0D { text.removeLast() }
      if let equals = text.firstIndex(of: UInt8(ascii: "=")) {
        text.replaceSubrange(equals...equals, with: Array(" = ".utf8))
      }
      guard let words = NUTLine.words(text), let user = current else {
        throw mistake("this belongs to no user, or its quotation marks don't match")
      }
      switch (words[0], words.dropFirst().filter { $0 != "=" }) {
      case ("password", let values) where values.count == 1: users[user]?.password = Array(values[0].utf8)
      case ("upsmon", ["primary"]), ("upsmon", ["master"]): users[user]?.isPrimary = true
      case ("upsmon", ["secondary"]), ("upsmon", ["slave"]): break
      case ("actions", _), ("instcmds", _): break
      default: throw mistake("expected password = TEXT, or upsmon primary|secondary")
      }
    }
    if let without = users.first(where: { $0.value.password == nil }) {
      throw Mistake(line: lines.count, message: "the user \(without.key) has no password")
    }
  }

  /// The user with this name and password; nil if there is none.
  func user(_ name: String, password: String) -> User? {
    // Compare in constant time, so that the time doesn't reveal the first difference.
    guard let user = users[name], let expected = user.password else { return nil }
    let given = Array(password.utf8)
    var difference = given.count ^ expected.count
    for (index, byte) in given.enumerated() {
      difference |= Int(byte ^ (expected.isEmpty ? 0 : expected[index % expected.count]))
    }
    return difference == 0 ? user : nil
  }
}
