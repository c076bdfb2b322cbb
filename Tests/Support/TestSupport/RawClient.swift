// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import Glibc
import SystemPackage

/// A client that sends what it likes and reads when it likes. Blocks; for 20 seconds at most, longer on a slow machine: `Patience`.
package final class RawClient: Sendable {
  package let descriptor: FileDescriptor

  package init(_ path: String) throws {
    descriptor = try UnixSocket.create(blocking: true)
    Patience.limit(descriptor, seconds: 20)
    try UnixSocket.connect(descriptor, to: path)
  }

  deinit { Socket.close(descriptor) }

  package func send(_ bytes: [UInt8]) async throws {
    try await blocking {
      var rest = bytes[...]
      while !rest.isEmpty { rest = rest.dropFirst(try Socket.send(rest, to: self.descriptor)) }
    }
  }

  package func send(_ text: String) async throws { try await send(Array(text.utf8) + [0]) }

  package func endSending() { shutdown(descriptor.rawValue, CInt(SHUT_WR)) }

  /// All that comes, up to the end or to `count` messages and what came with them. Throws `EAGAIN` when nothing comes for long.
  package func messages(_ count: Int = .max) async throws -> [JSON] {
    let bytes = try await blocking {
      var bytes: [UInt8] = []
      var ends = 0
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while ends < count {
        let got = read(self.descriptor.rawValue, &buffer, buffer.count)
        if got < 0 && errno == ECONNRESET { break }  // closed with something unread
        guard got >= 0 else { throw Errno(rawValue: errno) }
        if got == 0 { break }
        ends += buffer[..<got].count { $0 == 0 }
        bytes += buffer[..<got]
      }
      return bytes
    }
    return try bytes.split(separator: 0).map { try JSON(Array($0)) }
  }

  /// The errors in the messages up to the end.
  package func errors() async throws -> [String] {
    try await messages().map {
      ReplyMessage($0).flatMap { if case .failure(let e) = $0.outcome { e.name } else { nil } } ?? "-"
    }
  }
}
