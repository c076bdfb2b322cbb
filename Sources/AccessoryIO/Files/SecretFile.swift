// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Reads and checks files with secrets: passwords and private keys.
package enum SecretFile {
  /// The longest password, in bytes.
  private static let longestPassword = 1_024

  /// The path of the file that systemd has passed to this process as the credential `name` (`LoadCredential=NAME:PATH`); nil if there
  /// is none.
  package static func credentialPath(_ name: String) -> String? {
    guard let folder = getenv("CREDENTIALS_DIRECTORY") else { return nil }
    let path = String(cString: folder) + "/" + name
    // The unit passes an empty line if the file doesn't exist, because `SetCredential=` needs some value.
    var file = stat()
    return stat(path, &file) == 0 && file.st_size > 1 ? path : nil
  }

  /// Reads a password or a token, as `what` says: the first line of the file. Blocks, so call it on a setup queue. Throws
  /// `misconfigured` if other users may read the file or it has no password, and otherwise the error of opening it.
  package static func password(_ path: String, _ what: String = "password") throws(AccessoryError) -> String {
    let file = try open(path, "\(what) file")
    defer { try? file.close() }
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try SmallFile.read(file, limit: longestPassword + 2)
    } catch {
      throw AccessoryError(errno: error, "the \(what) file \(path) can't be read")
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else { throw AccessoryError(.misconfigured, "the first line of \(path) has no \(what)") }
    guard line.count <= longestPassword, !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
      throw AccessoryError(
        .misconfigured,
        "the first line of \(path) is no \(what): it isn't UTF-8, or longer than \(longestPassword) bytes")
    }
    return text
  }

  /// Throws unless the file exists and only its owner, its group and root may read it. `what` names the file in the error.
  package static func check(_ path: String, _ what: String) throws(AccessoryError) {
    let file = try open(path, what)
    try? file.close()
  }

  /// Checks the file after opening it, so that nobody can replace it between the check and the read.
  private static func open(_ path: String, _ what: String) throws(AccessoryError) -> FileDescriptor {
    let file: FileDescriptor
    do {
      file = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
    } catch {
      throw AccessoryError(errno: error as? Errno ?? .ioError, "the \(what) \(path) can't be opened")
    }
    var status = stat()
    guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      try? file.close()
      throw AccessoryError(.misconfigured, "the \(what) \(path) is not a regular file")
    }
    guard status.st_mode & (S_IROTH | S_IWOTH) == 0 else {
      try? file.close()
      throw AccessoryError(
        .misconfigured, "the \(what) \(path) may be read or written by everybody: chmod o= \(path)")
    }
    return file
  }
}
