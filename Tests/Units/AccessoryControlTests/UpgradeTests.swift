// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import TestSupport
import Testing

@Suite("Raw bytes behind an upgrade", .timeLimit(.minutes(Patience.minutes(2)))) struct UpgradeTests {
  /// Takes `count` bytes.
  private func take(_ count: Int, from transport: any Transport) async -> [UInt8] {
    let readable = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    transport.input.onReadable { readable.continuation.yield() }
    var all: [UInt8] = []
    var bytes: [UInt8] = []
    for await _ in readable.stream {
      while case .bytes = transport.input.take(into: &bytes) { all += bytes }
      if all.count >= count || transport.input.take(into: &bytes) != .nothing { break }
    }
    return all
  }

  /// Waits for the end.
  private func end(of transport: any Transport) async -> InputQueue.TakeResult {
    let readable = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    transport.input.onReadable { readable.continuation.yield() }
    var bytes: [UInt8] = []
    for await _ in readable.stream {
      while true {
        switch transport.input.take(into: &bytes) {
        case .bytes: continue
        case .nothing: break
        case .end(let error): return .end(error)
        }
        break
      }
    }
    return .nothing
  }

  @Test func bytesPassBothWays() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    _ = try await client.call(Bridge.List())
    let (reply, transport) = try await client.upgrade(Bridge.Open())
    #expect(reply.device == SampleBridge.device)
    // NULs and what looks like a message are bytes like others.
    let bytes = [0, 0] + Array(#"{"method":"x"}"#.utf8) + [0] + pattern(200_000)
    async let echo = take(bytes.count, from: transport)
    for start in stride(from: 0, to: bytes.count, by: 5_000) {
      let piece = Array(bytes[start..<min(bytes.count, start + 5_000)])
      while transport.output.offer(piece) != .accepted {
        try await eventually("space") { transport.output.hasSpaceAvailable }
      }
    }
    #expect(await echo == bytes)
    let taken = await #expect(throws: ControlError.self) { try await client.call(Bridge.List()) }
    #expect(taken?.accessoryError.kind == .busy)
    await transport.close()
    try await sample.bridge.seen.wait { $0.returned == 1 }
    try await sample.clients.wait { $0 == 0 }
    await sample.server.close()
  }

  @Test func anErrorLeavesTheConnectionAsItWas() async throws {
    let sample = try await SampleServer()
    let (_, transport) = try await sample.client().upgrade(Bridge.Open())
    let client = try await sample.client()
    let busy = await #expect(throws: ControlError.self) { try await client.upgrade(Bridge.Open()).reply }
    #expect(busy?.accessoryError.kind == .busy)
    _ = try await client.call(Bridge.List())
    await transport.close()
    try await sample.bridge.seen.wait { $0.returned == 1 }
    let (_, second) = try await client.upgrade(Bridge.Open())
    await second.close()
    await sample.server.close()
  }

  @Test func bytesSentRightBehindTheCallAreTheAccessorys() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    let call = Array(#"{"method":"accessorybridge.Bridge.Open","upgrade":true}"#.utf8) + [0]
    try await raw.send(call + Array("{\"a\":1}".utf8) + [0])
    let messages = try await raw.messages(2)
    #expect(messages.last == .object(["a": .number("1")]))
    await sample.server.close()
  }

  @Test func anAccessoryIsReturnedThoughItsClientHasGone() async throws {
    let sample = try await SampleServer()
    for round in 1...20 {
      do {
        let raw = try RawClient(sample.path)
        try await raw.send(#"{"method":"accessorybridge.Bridge.Open","upgrade":true}"#)
        if round.isMultiple(of: 2) {
          try await sample.bridge.seen.wait { $0.lent == round / 2 || $0.lent >= round / 2 }
        }
      }
      try await sample.clients.wait { $0 == 0 }
      let seen = sample.bridge.seen.value
      #expect(seen.lent == seen.returned)
    }
    await sample.server.close()
  }

  @Test func theServersEndIsTheAccessorysEnd() async throws {
    let sample = try await SampleServer()
    let (_, transport) = try await sample.client().upgrade(Bridge.Open())
    await sample.server.close()
    #expect(sample.bridge.seen.value.returned == 1)
    guard case .end(let error?) = await end(of: transport) else { throw Hang("an error") }
    #expect(error.kind == .disconnected)
    await transport.close()
  }
}
