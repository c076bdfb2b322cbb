// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The network between a gateway and its broker: a TCP proxy that can be cut. Then nothing passes in either direction and no
/// connection ends, and afterwards everything goes on; as with a cable that is pulled out and put back.
final class TestNetwork: Sendable {
  /// The port for clients.
  let port: Int
  private let listener: CInt
  private let broker: Int
  private let isCut = Atomic<Bool>(false)
  private let isEnded = Atomic<Bool>(false)

  init(to broker: Int) throws {
    self.broker = broker
    (listener, port) = try LocalPort.listen(backlog: 16)
    DispatchQueue(label: "test.network").async { [self] in run() }
  }

  /// Cuts the network, or repairs it.
  func cut(_ value: Bool) { isCut.store(value, ordering: .sequentiallyConsistent) }

  /// Ends it.
  func end() { isEnded.store(true, ordering: .sequentiallyConsistent) }

  /// Two sockets between which everything is passed on.
  private struct Pair {
    let client, broker: CInt
  }

  private func run() {
    var pairs: [Pair] = []
    while !isEnded.load(ordering: .sequentiallyConsistent) {
      guard !isCut.load(ordering: .sequentiallyConsistent) else {
        usleep(20_000)
        continue
      }
      var entries = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      entries += pairs.flatMap { [$0.client, $0.broker] }.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&entries, nfds_t(entries.count), 20) > 0, !isCut.load(ordering: .sequentiallyConsistent) else {
        continue
      }
      for (index, pair) in pairs.enumerated().reversed() {
        var isOver = false
        if entries[1 + index * 2].revents != 0 { isOver = !pass(from: pair.client, to: pair.broker) }
        if !isOver, entries[2 + index * 2].revents != 0 {
          isOver = !pass(from: pair.broker, to: pair.client)
        }
        if isOver { close(pairs.remove(at: index)) }
      }
      if entries[0].revents != 0 { accept(&pairs) }
    }
    pairs.forEach(close)
    Glibc.close(listener)
  }

  private func accept(_ pairs: inout [Pair]) {
    let client = Glibc.accept(listener, nil, nil)
    guard client >= 0 else { return }
    guard let other = LocalPort.connect(broker) else {
      Glibc.close(client)
      return
    }
    pairs.append(Pair(client: client, broker: other))
  }

  private func close(_ pair: Pair) {
    Glibc.close(pair.client)
    Glibc.close(pair.broker)
  }

  /// Passes on what has arrived; returns false at the end.
  private func pass(from: CInt, to: CInt) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(from, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    return send(buffer[..<count], to: to)
  }

  private func send(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      == bytes.count
  }
}
