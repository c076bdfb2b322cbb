// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

/// A client of a server that keeps what it gets.
final class SocketClient: Sendable {
  let transport: DescriptorTransport
  let received = Watched(Received())

  struct Received: Sendable {
    var bytes: [UInt8] = []
    var hasEnded = false
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// With `reads` false it never reads.
  init(_ place: ConnectionListener.Place, reads: Bool = true) async throws {
    transport = try await DescriptorTransport.open(place.network)
    if reads { startReading() }
  }

  func startReading() {
    transport.input.onReadable { [weak self] in self?.take() }
    take()
  }

  deinit { transport.beginClose() }

  private func take() {
    var buffer: [UInt8] = []
    while true {
      switch transport.input.take(into: &buffer) {
      case .bytes:
        let bytes = buffer
        received.update { $0.bytes += bytes }
      case .nothing: return
      case .end: return received.update { $0.hasEnded = true }
      }
    }
  }

  func send(_ bytes: [UInt8]) { #expect(transport.output.offer(bytes) == .accepted) }
  func send(_ text: String) { send(Array(text.utf8)) }
  func wait(for text: String) async throws { _ = try await received.wait { $0.text.contains(text) } }
  func waitForEnd() async throws { _ = try await received.wait { $0.hasEnded } }
}
