// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

extension NUTUsers {
  /// Reads a file. Throws `misconfigured` with the line number of an error, and `permissionDenied` if everybody can read or write the
  /// file. Blocks, so call it on a `SetupQueue`.
  package static func read(_ path: String) throws(AccessoryError) -> NUTUsers {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try content(of: path)
    } catch .notPermitted {
      throw AccessoryError(
        .permissionDenied,
        "\(path) has passwords, and every user of this machine can read or change it: chmod o= \(path)")
    } catch {
      throw AccessoryError(errno: error, "reading \(path)")
    }
    guard bytes.count <= sizeLimit else {
      throw AccessoryError(.misconfigured, "\(path) has more than \(sizeLimit) bytes")
    }
    do throws(Mistake) {
      return try NUTUsers(bytes)
    } catch {
      throw AccessoryError(.misconfigured, "\(path):\(error.line): \(error.message)")
    }
  }

  /// The file's bytes. Throws `notPermitted` if everybody can read or write it.
  private static func content(of path: String) throws(Errno) -> [UInt8] {
    let descriptor = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    defer { Glibc.close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
    guard facts.st_mode & 0o006 == 0 else { throw .notPermitted }
    return try SmallFile.read(FileDescriptor(rawValue: descriptor), limit: sizeLimit + 1)
  }
}
