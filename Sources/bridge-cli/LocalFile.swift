// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Files on this machine.
enum LocalFile {
  /// The limit of a file that is fetched from an accessory, in bytes. A brick's memory is far smaller.
  static let limit = 64 << 20

  /// Writes a file atomically: under a temporary name, which is then renamed or linked to `path`.
  static func write(_ bytes: [UInt8], to path: String, replacing: Bool) throws(AccessoryError) {
    let temporary = "\(path).\(getpid()).part"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(temporary)") }
    defer { Glibc.close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = AccessoryError(errno: Errno(rawValue: errno), "writing \(temporary)")
        unlink(temporary)
        throw error
      }
      rest = rest.dropFirst(count)
    }
    // Unlike rename(2), link(2) fails if a file has appeared at `path` in the meantime.
    let isThere = replacing ? rename(temporary, path) == 0 : link(temporary, path) == 0
    let failure = errno
    if !replacing || !isThere { unlink(temporary) }
    guard isThere else { throw AccessoryError(errno: Errno(rawValue: failure), "making \(path)") }
  }
}
