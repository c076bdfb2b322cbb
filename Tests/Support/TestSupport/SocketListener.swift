// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Dispatch
import Glibc
import SystemPackage

/// Listens at a socket with a path, and gives the test each connection that somebody makes to it.
public final class SocketListener: Sendable {
  private let listener: FileDescriptor

  /// Listens at `path`, where no file is yet. `onConnect` is called on a queue of its own.
  public init(at path: String, onConnect: @escaping @Sendable (DescriptorTransport) -> Void) throws {
    listener = try UnixSocket.create(blocking: true)
    try UnixSocket.bind(listener, to: path)
    try Socket.listen(listener, backlog: 16)
    let listener = listener
    DispatchQueue(label: "test.listener").async {
      while true {
        let client = FileDescriptor(rawValue: Glibc.accept(listener.rawValue, nil, nil))
        guard client.rawValue >= 0 else { return Socket.close(listener) }
        Socket.adopt(client)
        onConnect(
          DescriptorTransport(
            descriptor: client, label: "the client", timing: .instant, io: .shared, setup: SetupQueue(label: "test")
          ) { Socket.close(client) })
      }
    }
  }

  /// Takes no more connections; the file stays.
  public func close() { shutdown(listener.rawValue, CInt(SHUT_RDWR)) }
}

extension Transport {
  /// Passes on to `other` what arrives here, and its end. For tests, whose bytes are few: what doesn't fit is lost.
  public func pass(to other: any Transport) {
    input.onReadable { [input] in
      var bytes: [UInt8] = []
      while true {
        switch input.take(into: &bytes) {
        case .bytes: _ = other.output.offer(bytes)
        case .nothing: return
        case .end: return other.beginClose()
        }
      }
    }
  }
}
