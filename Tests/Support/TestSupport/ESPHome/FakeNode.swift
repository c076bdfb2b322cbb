// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import ESPHomeAPI

/// A node of ESPHome on this machine, whose first serial port the test plays.
package final class FakeNode: Sendable {
  private let connections = Watched<[(transport: DescriptorTransport, talk: NodeConversation)]>([])
  private let listener = Locked<NetworkListener?>(nil)
  /// What the port is wired to; nil for nothing.
  private let wire: (any Transport)?
  /// Where it listens.
  package let address: NetworkAddress

  /// A node on the loopback, whose first port is wired to `wire`.
  package init(_ node: NodeConversation.Node = .init(), wire: (any Transport)? = nil) async throws {
    self.wire = wire
    let arrived = Watched<[DescriptorTransport]>([])
    let listener = try await NetworkListener.listen(at: "127.0.0.1", port: 0) { client in
      arrived.update { $0.append(client) }
    }
    address = listener.address
    self.listener.withLock { $0 = listener }
    Task { [weak self] in
      for number in 0... {
        guard let clients = try? await arrived.wait(until: { $0.count > number }), let self else { return }
        serve(clients[number], node)
      }
    }
    wire?.input.onReadable { [weak self] in self?.fromWire() }
  }

  private func serve(_ client: DescriptorTransport, _ node: NodeConversation.Node) {
    let place = connections.update { connections in
      connections.append((client, NodeConversation(node)))
      return connections.count - 1
    }
    client.input.onReadable { [weak self] in self?.read(client, place) }
    read(client, place)
  }

  private func read(_ client: DescriptorTransport, _ place: Int) {
    var bytes: [UInt8] = []
    while client.input.take(into: &bytes) == .bytes {
      let taken = bytes
      let (answer, written, hasEnded) = connections.update { connections in
        let before = connections[place].talk.written.count
        let answer = connections[place].talk.take(taken)
        let talk = connections[place].talk
        return (answer, Array(talk.written[before...]), talk.hasLeft || talk.end != nil)
      }
      _ = client.output.offer(answer)
      _ = wire?.output.offer(written)
      if hasEnded { client.beginClose() }
    }
  }

  private func fromWire() {
    var bytes: [UInt8] = []
    while let wire, wire.input.take(into: &bytes) == .bytes { send(bytes) }
  }

  // MARK: - What the test does

  /// The last connection, when it is as wanted.
  package func wait(_ isWanted: @escaping @Sendable (NodeConversation) -> Bool) async throws -> NodeConversation {
    let found = try await connections.wait { $0.last.map { isWanted($0.talk) } ?? false }
    return found[found.count - 1].talk
  }

  /// Sends what `make` makes on the last connection.
  package func say(_ make: @Sendable (inout NodeConversation) -> [UInt8]) {
    let (transport, bytes) = connections.update { connections in
      let last = connections.count - 1
      return (connections[last].transport, make(&connections[last].talk))
    }
    _ = transport.output.offer(bytes)
  }

  /// Sends bytes from the port.
  package func send(_ bytes: [UInt8]) { if !connections.value.isEmpty { say { $0.data(bytes) } } }

  /// Ends the connections, and takes no more.
  package func close() {
    listener.withLock { listener in
      listener?.close()
      listener = nil
    }
    for connection in connections.value { connection.transport.beginClose() }
    wire?.beginClose()
  }
}
