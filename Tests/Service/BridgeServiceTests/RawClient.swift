// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport

/// A client that sends what it is told, and reads nothing unless asked to.
final class RawClient: Sendable {
  private let descriptor: FileDescriptor

  init(path: String) throws {
    descriptor = try UnixSocket.create(blocking: true)
    Patience.limit(descriptor, seconds: 30)
    try UnixSocket.connect(descriptor, to: path)
  }

  /// Sends a message.
  func send(_ message: String) {
    let bytes = Array(message.utf8) + [0]
    _ = Glibc.send(descriptor.rawValue, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  /// The next answer, of at most 64 KiB.
  func answer() async throws -> JSON {
    let descriptor = descriptor
    let bytes = try await blocking {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while bytes.count < 65_536 {
        guard read(descriptor.rawValue, &byte, 1) == 1, byte != 0 else { break }
        bytes.append(byte)
      }
      return bytes
    }
    return try JSON(bytes)
  }

  func close() { Socket.close(descriptor) }
}
