// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Dispatch
import Glibc

/// Somebody who listens on loopback where a broker should be, and sends what a test likes.
final class HostileBroker: Sendable {
  let port: Int
  /// The bytes that clients have taken.
  let sent = Watched(0)
  /// How many connections there were.
  let connections = Watched(0)
  private let listener: CInt

  /// CONNACK, which accepts the client.
  static let accepts: [UInt8] = [0x20, 0x02, 0x00, 0x00]

  /// Calls `answer` for each client that has sent its CONNECT, on a thread of its own; the connection ends when it returns.
  init(_ answer: @escaping @Sendable (HostileBroker, _ client: CInt) -> Void) throws {
    (listener, port) = try LocalPort.listen(backlog: 16)
    let listener = listener
    DispatchQueue(label: "test.hostile").async { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        self.connections.update { $0 += 1 }
        DispatchQueue(label: "test.hostile.client").async {
          var buffer = [UInt8](repeating: 0, count: 4_096)
          if read(client, &buffer, buffer.count) > 0 { answer(self, client) }
          close(client)
        }
      }
      close(listener)
    }
  }

  /// Sends these bytes to each client.
  convenience init(_ bytes: [UInt8]) throws { try self.init { _ = $0.send(bytes, to: $1) } }

  /// Sends `first` to each client, and then `piece` until the client is gone. Reads what the client sends, or nothing.
  convenience init(_ first: [UInt8], flooding piece: [UInt8], reads: Bool = true) throws {
    let block = Array(repeatElement(piece, count: max(1, 16_384 / piece.count)).joined())
    try self.init { broker, client in
      if reads {
        DispatchQueue(label: "test.hostile.reader").async {
          var buffer = [UInt8](repeating: 0, count: 65_536)
          while read(client, &buffer, buffer.count) > 0 {}
        }
      }
      guard broker.send(first, to: client) else { return }
      while broker.send(block, to: client) {}
      shutdown(client, CInt(SHUT_RDWR))
    }
  }

  deinit { shutdown(listener, CInt(SHUT_RDWR)) }

  /// The address, as commands take it.
  var address: String { "mqtt://127.0.0.1:\(port)" }

  /// Returns false when the client is gone.
  func send(_ bytes: [UInt8], to client: CInt) -> Bool {
    guard Glibc.send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count else { return false }
    sent.update { $0 += bytes.count }
    return true
  }
}
