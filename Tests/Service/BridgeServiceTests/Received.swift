// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

/// All that has come to a client.
final class Received: Sendable {
  let transport: any Transport
  let arrived = Watched<[UInt8]>([])
  let isOver = Watched(false)

  init(_ transport: any Transport) {
    self.transport = transport
    let (arrived, isOver) = (arrived, isOver)
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport {
        switch transport.input.take(into: &bytes) {
        case .bytes: arrived.update { [bytes] in $0 += bytes }
        case .nothing: return
        case .end: return isOver.update { $0 = true }
        }
      }
    }
  }

  func send(_ text: String) { _ = transport.output.offer(Array(text.utf8)) }

  func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws {
    let all = try await arrived.wait { $0.count >= text.utf8.count }
    #expect(String(decoding: all, as: UTF8.self) == text, sourceLocation: location)
  }
}
