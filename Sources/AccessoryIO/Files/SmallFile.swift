// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Reading a directory, without Foundation.
package enum Directory {
  /// The names in a directory, unsorted and without `.` and `..`; none when it can't be read.
  package static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      // The name may be longer than the array type that Swift imports, so it is read through a pointer.
      let offset = MemoryLayout<dirent>.offset(of: \.d_name)!
      let name = String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }
}

/// Symbolic links, without Foundation.
package enum SymbolicLink {
  /// The target of a symbolic link; nil when there is no link or it can't be read.
  package static func target(of path: String) -> String? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(PATH_MAX)) { buffer in
      let count = readlink(path, buffer.baseAddress!, buffer.count)
      return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
  }
}

/// Reading and writing small files in one go, without Foundation.
package enum SmallFile {
  /// The first `limit` bytes of a file. Only for files whose reads don't block.
  package static func read(_ path: String, limit: Int) throws(Errno) -> [UInt8] {
    let descriptor = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    defer { SystemCall.close(descriptor) }
    return try read(descriptor, limit: limit)
  }

  /// The next `limit` bytes, or fewer at the end of the file.
  package static func read(_ descriptor: FileDescriptor, limit: Int) throws(Errno) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(limit, 16_384))
    while bytes.count < limit {
      let count = try readOnce(descriptor, &buffer, atMost: limit - bytes.count)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  private static func readOnce(
    _ descriptor: FileDescriptor, _ buffer: inout [UInt8], atMost limit: Int
  ) throws(Errno) -> Int {
    let limit = min(limit, buffer.count)
    return try buffer.withUnsafeMutableBufferPointer { bytes throws(Errno) in
      try SystemCall.read(
        descriptor, into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[..<limit]))
    }
  }
}
