// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// A regular file, open until this object is released, that can be read at any offset. Every call may block.
package final class ReadableFile: Sendable {
  /// The size in bytes when the file was opened.
  package let size: Int
  /// The path that was given.
  package let path: String
  private let descriptor: FileDescriptor

  /// Opens the file. Throws `notFound`, `permissionDenied`, or `unsupported` when it isn't a regular file.
  package init(_ path: String) throws(AccessoryError) {
    self.path = path
    do throws(Errno) {
      // Without O_NONBLOCK, open(2) waits for the writer of a FIFO.
      descriptor = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    } catch {
      throw AccessoryError(errno: error, "opening \(path)")
    }
    var facts = stat()
    guard fstat(descriptor.rawValue, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      SystemCall.close(descriptor)
      throw AccessoryError(.unsupported, "\(path) is not a regular file")
    }
    size = Int(facts.st_size)
  }

  deinit { SystemCall.close(descriptor) }

  /// Reads a range of bytes. Throws `badData` when the file ends before the end of the range, or the error of read(2).
  package func read(_ range: Range<Int>) throws(AccessoryError) -> [UInt8] {
    var failure: Errno?
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      do throws(Errno) {
        while count < range.count {
          let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
          let got = try SystemCall.read(descriptor, at: range.lowerBound + count, into: rest)
          if got == 0 { break }
          count += got
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw AccessoryError(errno: failure, "reading \(path)") }
    guard bytes.count == range.count else {
      throw AccessoryError(.badData, "\(path) became shorter while it was read")
    }
    return bytes
  }
}
