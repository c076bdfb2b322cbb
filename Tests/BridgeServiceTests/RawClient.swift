// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage

/// A client that sends what it is told, and reads nothing unless asked to.
final class RawClient: Sendable {
  private let descriptor: FileDescriptor

  init(path: String) throws {
    descriptor = try UnixSocket.create(blocking: true)
    try UnixSocket.connect(descriptor, to: path)
  }

  /// Sends a message.
  func send(_ message: String) {
    let bytes = Array(message.utf8) + [0]
    _ = Glibc.send(descriptor.rawValue, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  func close() { Socket.close(descriptor) }
}
