// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ExternalAccessory

/// What is parsed or matched is so on this module's queue, never on the I/O thread, which all devices wait for.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct ThreadTests {
  /// A reply that notes whether it is decoded on the I/O thread.
  private struct Probe: ControlMethod {
    static let method = "org.varlink.service.GetInfo"

    struct Reply: Codable, Sendable {
      let wasOnIOThread: Bool

      init(from decoder: any Decoder) { wasOnIOThread = IOThread.shared.isCurrent }

      func encode(to encoder: any Encoder) {}
    }
  }

  /// Devices come, are matched with profiles and go while the I/O thread stands still.
  @Test func profilesAreMatchedWithoutTheIOThread() async throws {
    let source = FakeSource()
    let manager = try await blocking { EAAccessoryManager(sources: [source]) }
    let (isIn, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    IOThread.shared.post {
      isIn.signal()
      mayLeave.wait()
    }
    defer { mayLeave.signal() }
    try await blocking { isIn.wait() }
    source.add(.af1(at: "/dev/null"))
    try await eventually("the accessory") { manager.connectedAccessories.count == 1 }
    source.remove(.af1(at: "/dev/null"))
    try await eventually("its end") { manager.connectedAccessories.isEmpty }
  }

  /// Answers of a service are decoded by the task that asks: one that opens an accessory, and one that follows what the
  /// service has, which calls `ready` in the same breath as it decodes.
  @Test func answersAreDecodedElsewhere() async throws {
    let held = try Held()
    try held.listen()
    let place = held.place
    let reply = try await blocking {
      try BlockingCall.run("asking", limit: .seconds(20)) { () async throws(AccessoryError) in
        #expect(!IOThread.shared.isCurrent)
        let client = try await ControlClient.connect(to: place)
        do throws(ControlError) { return try await client.call(Probe()) } catch { throw error.accessoryError }
      }
    }
    #expect(!reply.wasOnIOThread)
    let registry = AccessoryRegistry(profiles: .builtIn, drivers: .builtIn, scanTimeout: .seconds(1), services: [place])
    let ready = Watched<[Bool]>([])
    registry.follow(service: place) { ready.update { $0.append(IOThread.shared.isCurrent) } }
    registry.follow(FakeSource()) { ready.update { $0.append(IOThread.shared.isCurrent) } }
    #expect(try await ready.wait { $0.count == 2 } == [false, false])
    await held.end()
  }

  /// What a service says unasked, as one does that turns a client away, is not decoded there either: most of the
  /// processor's time for a long message is another thread's.
  @Test(.disabled(if: ThisProcess.isSanitized, "a sanitizer slows the threads unevenly"))
  func whatComesUnaskedIsDecodedElsewhere() async throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/service"
    let listener = try UnixSocket.create(blocking: true)
    defer { Socket.close(listener) }
    try UnixSocket.bind(listener, to: place)
    try Socket.listen(listener, backlog: 1)
    let client = try await ControlClient.connect(to: place)
    let before = await Self.times()
    try await blocking {
      let peer = try Socket.accept(listener)
      defer { Socket.close(peer) }
      _ = fcntl(peer.rawValue, F_SETFL, 0)
      var rest = Array(("[" + String(repeating: "0,", count: 500_000) + "0]\0").utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(peer.rawValue, $0.baseAddress!, $0.count) }
        guard count > 0 else { throw Hang("the client to read") }
        rest = rest.dropFirst(count)
      }
      var byte: UInt8 = 0
      while read(peer.rawValue, &byte, 1) > 0 {}
    }
    let after = await Self.times()
    let error = await #expect(throws: ControlError.self) { try await client.call(Probe()) }
    #expect(error?.accessoryError.kind == .badData && error?.description.contains("without a request") == true)
    #expect((after.ioThread - before.ioThread) * 2 < after.process - before.process)
  }

  /// Seconds of the processor that the I/O thread and the whole process have taken.
  private static func times() async -> (ioThread: Double, process: Double) {
    @Sendable func seconds(_ clock: clockid_t) -> Double {
      var time = timespec()
      clock_gettime(clock, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
    return await withCheckedContinuation { continuation in
      IOThread.shared.post {
        continuation.resume(returning: (seconds(CLOCK_THREAD_CPUTIME_ID), seconds(CLOCK_PROCESS_CPUTIME_ID)))
      }
    }
  }
}
