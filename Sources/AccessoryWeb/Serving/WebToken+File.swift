// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension WebToken {
  /// The name of the token in a systemd unit's credentials (`LoadCredential=web-token:PATH`).
  private static let credential = "web-token"

  /// The path of the token that systemd has passed to this process; nil if there is none.
  package static func credentialPath() -> String? { SecretFile.credentialPath(credential) }

  /// Reads a token: the first line of the file. Blocks, so call it on a setup queue. Throws the errors of `SecretFile.password`, and
  /// `misconfigured` if the line is too short or too long.
  package static func read(_ path: String) throws(AccessoryError) -> WebToken {
    guard let token = WebToken(try SecretFile.password(path, "token")) else {
      throw AccessoryError(
        .misconfigured,
        "the first line of \(path) isn't a token of \(lengths.lowerBound) to \(lengths.upperBound) bytes: "
          + "openssl rand -hex 24 makes one")
    }
    return token
  }
}
