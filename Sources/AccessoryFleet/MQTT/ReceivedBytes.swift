// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage

/// Counts the bytes that a TCP connection has received.
enum ReceivedBytes {
  /// The offset of `tcpi_bytes_received` in the kernel's `struct tcp_info` (linux/tcp.h, since Linux 4.1), after 8 fields of one
  /// byte, 24 of 4 bytes and 3 of 8 bytes. glibc's `tcp_info` ends before it.
  private static let offset = 128

  /// The bytes received and acknowledged; nil if the kernel doesn't count them.
  static func count(_ descriptor: FileDescriptor) -> UInt64? {
    withUnsafeTemporaryAllocation(byteCount: offset + 8, alignment: 8) { buffer in
      var size = socklen_t(buffer.count)
      guard getsockopt(descriptor.rawValue, CInt(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &size) == 0,
        Int(size) >= buffer.count
      else { return nil }
      return buffer.load(fromByteOffset: offset, as: UInt64.self)
    }
  }
}
