// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Synchronization

/// The network between a gateway and its broker: a TCP proxy that can be cut. Then nothing passes in either direction and no
/// connection ends, and afterwards everything goes on; as with a cable that is pulled out and put back.
final class TestNetwork: Sendable {
  /// What the proxy does with clients that speak MQTT 5.
  enum Version5: Sendable, CaseIterable {
    case passes
    /// It answers as a broker of MQTT 3.1.1 has to (3.1.2.2).
    case isRefused
    /// It closes the connection without an answer, as some do.
    case isDropped
  }

  /// The port for clients.
  let port: Int
  private let listener: CInt
  private let broker: Int
  private let version5: Version5
  private let isCut = Atomic<Bool>(false)
  private let isEnded = Atomic<Bool>(false)

  init(to broker: Int, version5: Version5 = .passes) throws {
    (self.broker, self.version5) = (broker, version5)
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
    var isChecked = false
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
        if entries[1 + index * 2].revents != 0 { isOver = !pass(from: pair.client, to: pair.broker, &pairs[index]) }
        if !isOver, entries[2 + index * 2].revents != 0 {
          isOver = !pass(from: pair.broker, to: pair.client, &pairs[index])
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
  private func pass(from: CInt, to: CInt, _ pair: inout Pair) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(from, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    if from == pair.client, !pair.isChecked {
      pair.isChecked = true
      // CONNECT: its type, its length in one to four bytes, the length of "MQTT", these letters, and the version.
      let isVersion5 = buffer[..<count].firstRange(of: Array("MQTT".utf8)).map { buffer[$0.upperBound] == 5 } ?? false
      switch version5 {
      case .isRefused where isVersion5:
        // CONNACK, 1: unacceptable protocol version.
        _ = send([0x20, 0x02, 0x00, 0x01], to: from)
        return false
      case .isDropped where isVersion5: return false
      default: break
      }
    }
    return send(buffer[..<count], to: to)
  }

  private func send(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
    bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      == bytes.count
  }
}
