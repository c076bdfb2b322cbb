// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

extension WebToken {
  /// The name of the token in a systemd unit's credentials (`LoadCredential=web-token:PATH`).
  private static let credential = "web-token"

  /// The path of the token that systemd has passed to this process; nil if there is none.
  package static func credentialPath() -> String? { SecretFile.credentialPath(credential) }

  /// Reads a token: the first line of the file. Blocks, so call it on a setup queue. Throws `misconfigured` if everybody may read
  /// the file, or its first line is too short or too long; otherwise the error of reading it.
  package static func read(_ path: String) throws(AccessoryError) -> WebToken {
    var file = stat()
    guard stat(path, &file) == 0 else {
      throw AccessoryError(errno: Errno(rawValue: errno), "the token file \(path) can't be opened")
    }
    guard file.st_mode & (S_IROTH | S_IWOTH) == 0 else {
      throw AccessoryError(
        .misconfigured, "the token file \(path) may be read or written by everybody: chmod o= \(path)")
    }
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try SmallFile.read(path, limit: lengths.upperBound + 2)
    } catch {
      throw AccessoryError(errno: error, "the token file \(path) can't be read")
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard let text = String(validating: line, as: UTF8.self), let token = WebToken(text) else {
      throw AccessoryError(
        .misconfigured,
        "the first line of \(path) isn't a token of \(lengths.lowerBound) to \(lengths.upperBound) bytes: "
          + "openssl rand -hex 24 makes one")
    }
    return token
  }
}
