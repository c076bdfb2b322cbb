// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// The task that waits alone decodes what arrives, on the link's queue.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct DecoderTests {
  /// A link whose accessory keeps its replies to itself; `reply` gives that to the last request.
  private func open() async throws -> (
    link: Link<AF1Exchange>, transport: MemoryTransport, asked: @Sendable (Int) async throws -> AF1Header
  ) {
    let accessory = PretendedAccessory { _, _ in nil }
    let link = try await accessory.link()
    return (
      link, accessory.transport,
      { count in
        let requests = accessory.requests
        _ = try await requests.wait(until: { $0.count >= count })
        return requests.value[count - 1]
      }
    )
  }

  @Test func aReplyInPiecesIsPutTogether() async throws {
    let (link, transport, asked) = try await open()
    async let reply = link.request(AF1Request(.echo, payload: [1, 2, 3]))
    let frame = PretendedAccessory.frame(.reply(to: try await asked(1)), [1, 2, 3])
    for byte in frame { transport.receive([byte]) }
    #expect(try await reply.payload == [1, 2, 3])
    #expect(link.statistics.frames.frames == 2)
  }

  @Test func noiseBeforeAReplyIsPassedOver() async throws {
    let (link, transport, asked) = try await open()
    async let reply = link.request(AF1Request(.status))
    let header = try await asked(1)
    transport.receive([0, 1, 2, 3])
    transport.receive(PretendedAccessory.frame(.reply(to: header), [9]))
    #expect(try await reply.payload == [9])
  }

  @Test func twoThatWaitBothGetTheirReplies() async throws {
    let (link, transport, asked) = try await open()
    async let first = link.request(AF1Request(.status))
    _ = try await asked(1)
    async let second = link.request(AF1Request(.battery))
    transport.receive(PretendedAccessory.frame(.reply(to: try await asked(1)), [1]))
    transport.receive(PretendedAccessory.frame(.reply(to: try await asked(2)), [2]))
    #expect(try await first.payload == [1])
    #expect(try await second.payload == [2])
  }

  @MainActor @Test func anActorIsNotHeldUp() async throws {
    let (link, transport, asked) = try await open()
    async let reply = Self.onMain(link)
    let header = try await asked(1)
    #expect(link.core.state.withLock { $0.nonDecodingRequests.count } == 1)
    transport.receive(PretendedAccessory.frame(.reply(to: header), [5]))
    #expect(try await reply == [5])
    #expect(link.core.state.withLock { $0.nonDecodingRequests.isEmpty })
  }

  @MainActor private static func onMain(_ link: Link<AF1Exchange>) async throws -> [UInt8] {
    try await link.request(AF1Request(.status)).payload
  }

  @Test func theEndReachesWhoWaits() async throws {
    let (link, transport, asked) = try await open()
    let reply = Task { try await link.request(AF1Request(.status)) }
    _ = try await asked(1)
    transport.receive([0x0F])
    transport.input.finish(AccessoryError(.disconnected, "gone"))
    let error = await #expect(throws: AccessoryError.self) { try await reply.value }
    #expect(error?.kind == .disconnected)
  }

  @Test func cancellingBetweenTwoPiecesFreesTheSlot() async throws {
    let (link, transport, asked) = try await open()
    for number in 1...200 {
      let task = Task { try await link.request(AF1Request(.status)).payload }
      let frame = PretendedAccessory.frame(.reply(to: try await asked(number)), [7])
      transport.receive(Array(frame.prefix(5)))
      task.cancel()
      transport.receive(Array(frame.dropFirst(5)))
      let result = await task.result
      // Either came first; but one of them it must be.
      switch result {
      case .success(let payload): #expect(payload == [7])
      case .failure(let error): #expect((error as? AccessoryError)?.kind == .cancelled)
      }
    }
    #expect(link.core.state.withLock { $0.waiting.isEmpty })
  }
}
