// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// An ordinary file that is read in pieces, anywhere in it. Open for as long as this lives. Every call may block.
package final class ReadableFile: Sendable {
  /// Bytes of it when it was opened.
  package let size: Int
  /// Where it is.
  package let path: String
  private let descriptor: FileDescriptor

  /// Opens it. Throws `notFound`, `permissionDenied`, `unsupported` when it is something else.
  package init(_ path: String) throws(AccessoryError) {
    self.path = path
    do throws(Errno) {
      // A pipe would make open(2) wait for its other end.
      descriptor = try SystemCall.open(path, O_RDONLY | O_NONBLOCK)
    } catch {
      throw AccessoryError(errno: error, "opening \(path)")
    }
    var facts = stat()
    guard fstat(descriptor.rawValue, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
      SystemCall.close(descriptor)
      throw AccessoryError(.unsupported, "\(path) is no ordinary file, whose size and contents are known beforehand")
    }
    size = Int(facts.st_size)
  }

  deinit { SystemCall.close(descriptor) }

  /// Reads a range of bytes. Throws `badData` when the file ends before that, or the error of the system call.
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
      throw AccessoryError(.badData, "\(path) has become shorter since it was opened")
    }
    return bytes
  }
}
