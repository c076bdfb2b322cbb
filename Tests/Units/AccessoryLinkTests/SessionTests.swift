// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// A session has one taker at a time.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct SessionTests {
  private func kind(_ body: () async throws(AccessoryError) -> Void) async -> AccessoryError.Kind? {
    do throws(AccessoryError) {
      try await body()
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func aLinkHasASessionForItself() async throws {
    let accessory = PretendedAccessory()
    let session = AccessorySession(accessory.transport)
    let link = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: ManualClock())
    #expect(await kind { () throws(AccessoryError) in try await session.write([1, 2, 3]) } == .busy)
    #expect(
      await kind { () throws(AccessoryError) in
        var iterator = session.input.makeAsyncIterator()
        _ = try await iterator.next()
      } == .busy)
    #expect(
      await kind { () throws(AccessoryError) in
        _ = try await Link.open(session, rules: AF1Exchange(label: "second"), clock: ManualClock())
      } == .busy)
    // None of that did the link any harm.
    #expect(try await link.request(AF1Request(.echo, payload: [7])).payload == [7])
    await link.close()
    #expect(await kind { () throws(AccessoryError) in try await session.write([1]) } == .cancelled)
  }

  /// A write that waits for space when a link takes the session ends with an error.
  @Test func aLinkEndsAWaitingWriteAsBusy() async throws {
    let accessory = PretendedAccessory()
    accessory.transport.stall()
    let session = AccessorySession(accessory.transport)
    try await session.write([UInt8](repeating: 0, count: 20_000))
    let waiting = Task { await kind { () throws(AccessoryError) in try await session.write([1]) } }
    let late = Task {
      // However far the first has come.
      let link = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: ManualClock())
      return try await link.request(AF1Request(.echo, payload: [9])).payload
    }
    let end = await waiting.value
    #expect(end == .busy)
    accessory.transport.unstall()
    #expect(try await late.value == [9])
  }

  @Test func aSecondReaderIsRefusedAsBusy() async throws {
    let transport = MemoryTransport(label: "gadget")
    let session = AccessorySession(transport)
    var first = session.input.makeAsyncIterator()
    var second = session.input.makeAsyncIterator()
    #expect(await kind { () throws(AccessoryError) in _ = try await second.next() } == .busy)
    #expect(try await second.next() == nil)
    for byte: UInt8 in 0..<100 {
      transport.receive([byte])
      #expect(try await first.next() == [byte])
    }
  }

  @Test func oneReaderMayFollowAnother() async throws {
    let transport = MemoryTransport(label: "gadget")
    let session = AccessorySession(transport)
    for byte: UInt8 in 0..<10 {
      transport.receive([byte])
      for try await piece in session.input {
        #expect(piece == [byte])
        break
      }
    }
  }

  /// A reader that waits is not robbed; one that doesn't wait learns what has happened when it does.
  @Test func aLinkComesWhileSomebodyReads() async throws {
    let accessory = PretendedAccessory()
    let session = AccessorySession(accessory.transport)
    let reader = Task { () throws(AccessoryError) -> [UInt8]? in
      var iterator = session.input.makeAsyncIterator()
      return try await iterator.next()
    }
    try await eventually("the reader to wait") { session.ownership.withLock { $0.isTaking } }
    #expect(
      await kind { () throws(AccessoryError) in
        _ = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: ManualClock())
      } == .busy)
    accessory.transport.receive([5])
    #expect(try await reader.value == [5])
    var idle = session.input.makeAsyncIterator()
    let link = try await Link.open(session, rules: AF1Exchange(label: "gadget"), clock: ManualClock())
    #expect(await kind { () throws(AccessoryError) in _ = try await idle.next() } == .busy)
    #expect(try await link.request(AF1Request(.echo, payload: [7])).payload == [7])
  }

  /// The bytes keep the session that they come from.
  @Test func bytesKeepTheirSessionOpen() async throws {
    let transport = MemoryTransport(label: "gadget")
    func open() async throws(AccessoryError) -> AccessorySession { AccessorySession(transport) }
    transport.receive([1])
    var pieces: [[UInt8]] = []
    for try await piece in try await open().input {
      pieces.append(piece)
      #expect(transport.closeCount == 0)
      if pieces.count == 1 { transport.receive([2]) } else { break }
    }
    #expect(pieces == [[1], [2]])
    try await transport.waitForClose()
  }
}
