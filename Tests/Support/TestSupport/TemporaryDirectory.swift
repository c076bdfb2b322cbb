// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage

/// A directory of the test's own, mode 0700, which goes with this value.
public final class TemporaryDirectory: Sendable {
  /// Its path, without links in it.
  public let path: String

  /// Makes it below the system's directory for what is temporary, or, `inMemory`, on a file system that is in memory, where there is one.
  public init(inMemory: Bool = false) throws {
    let folder = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(folder)/accessory-bridge-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    for name in Directory.names(in: path) {
      let entry = path + "/" + name
      if unlink(entry) != 0 && errno == EISDIR { remove(entry) }
    }
    rmdir(path)
  }

  /// The names in the directory, or in one below it.
  public func names(in directory: String = "") -> [String] { Directory.names(in: path + "/" + directory).sorted() }

  /// Makes the folders in which a file of this name would lie.
  public func makeFolders(of name: String) throws {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/" + part
      guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
    }
  }

  /// Writes a file below the directory.
  public func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o600) throws {
    let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw Errno(rawValue: errno)
    }
    close(descriptor)
  }
}

/// What a link says; nil when there is none.
public func linkTarget(_ path: String) -> String? { SymbolicLink.target(of: path) }

/// Whether something is there, be it a link that leads nowhere.
public func exists(_ path: String) -> Bool {
  var file = stat()
  return lstat(path, &file) == 0
}
