// SPDX-License-Identifier: Apache-2.0

/// A way to tell people of alarms, as the configuration of a service names it.
package struct MessageWay: Sendable, Hashable {
  /// What takes the message.
  package enum Kind: Sendable, Hashable {
    /// A topic of an ntfy server: its URL with the topic.
    case ntfy(url: String)
    /// A program on the network, which gets JSON by POST.
    case webhook(url: String)
    /// An address for this machine's sendmail, and the sender's; nil for the one that sendmail chooses.
    case mail(to: String, from: String?)
    /// A program of this machine.
    case run(program: String)
  }

  /// The name, which entries of alarms use.
  package var name: String
  package var kind: Kind
  /// The file with the token for an ntfy server or a webhook. A systemd credential with the file's name takes precedence.
  package var tokenFile: String?
  /// How often a raised alarm is told again; nil for once only.
  package var repetition: Duration?

  package init(_ name: String, _ kind: Kind, tokenFile: String? = nil, repetition: Duration? = nil) {
    (self.name, self.kind, self.tokenFile, self.repetition) = (name, kind, tokenFile, repetition)
  }

  /// Why this URL can't be used; nil if it can. A token may not go to another machine without encryption.
  package static func problem(ofURL url: String, hasToken: Bool) -> String? {
    let isEncrypted = url.hasPrefix("https://")
    guard isEncrypted || url.hasPrefix("http://") else { return "it must begin with https:// or http://" }
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
      return "it has characters that a URL can't have"
    }
    let authority = url.dropFirst(isEncrypted ? 8 : 7).prefix { !"/?#".contains($0) }
    if authority.isEmpty { return "it has no host" }
    if authority.contains("@") { return "a user and a password don't belong in it: use token_file" }
    let loopback = ["localhost", "127.0.0.1", "[::1]"]
    let isHere = loopback.contains { authority == $0 || authority.hasPrefix($0 + ":") }
    if hasToken, !isEncrypted, !isHere { return "a token needs https://, unless the server is on this machine" }
    return nil
  }
}
