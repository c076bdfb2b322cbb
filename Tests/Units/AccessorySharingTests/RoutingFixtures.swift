// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Dispatch
import FamilyAF1
import Glibc
import Testing

@testable import AccessorySharing

extension SharingHub {
  /// Returns when the I/O thread and the router have done what was posted until now, and what followed from that.
  func settle() async {
    for _ in 0..<6 { await hop() }
    while parts.device.attached?.frames?.router.isIdle == false { await hop() }
    for _ in 0..<2 { await hop() }
  }

  /// Returns when the I/O thread has done what was posted until now, and what followed from that. The router may be stopped.
  func hop() async {
    for _ in 0..<4 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
  }
}

/// A gate that the router's queue has to pass with each input. While it is closed the queue is stopped.
final class RoutingGate: Sendable {
  private let token = DispatchSemaphore(value: 1)
  private let seen = Locked<[UInt: Int]>([:])

  /// How often each thread has passed.
  var threads: [UInt: Int] { seen.withLock { $0 } }

  static var currentThread: UInt { UInt(pthread_self()) }

  func close() { token.wait() }
  func open() { token.signal() }

  func pass() {
    token.wait()
    token.signal()
    seen.withLock { $0[Self.currentThread, default: 0] += 1 }
  }
}

/// Rules of AF1 behind a gate.
struct GatedRouting: Routing {
  private var rules = FrameRouting.af1(label: "lamp").rules
  let gate: RoutingGate

  init(_ gate: RoutingGate) { self.gate = gate }

  var deadline: MonotonicTime? { rules.deadline }
  var statistics: RoutingStatistics { rules.statistics }
  mutating func setTiming(_ timing: LineTiming) { rules.setTiming(timing) }
  mutating func add(_ client: Int, allowsWrites: Bool) { rules.add(client, allowsWrites: allowsWrites) }
  mutating func remove(_ client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    gate.pass()
    rules.remove(client, now: now, effects: &effects)
  }
  func mayTake(from client: Int) -> Bool { rules.mayTake(from: client) }
  func hasUnanswered(_ client: Int) -> Bool { rules.hasUnanswered(client) }
  mutating func take(_ bytes: [UInt8], from client: Int, now: MonotonicTime, effects: inout RoutingEffects) {
    gate.pass()
    rules.take(bytes, from: client, now: now, effects: &effects)
  }
  mutating func receive(_ bytes: [UInt8], messages: [Int]?, now: MonotonicTime, effects: inout RoutingEffects) {
    gate.pass()
    rules.receive(bytes, messages: messages, now: now, effects: &effects)
  }
  mutating func timePassed(now: MonotonicTime, effects: inout RoutingEffects) {
    gate.pass()
    rules.timePassed(now: now, effects: &effects)
  }
}

/// An AF1 accessory that answers HELLO, and every request by its payload.
final class EchoingAccessory: Sendable {
  let transport: MemoryTransport
  private let heard: Watched<[[UInt8]]>
  private let silence = RoutingSilence()

  init() {
    let codec = Locked(AF1Codec(maximumPayload: 4_096))
    let heard = Watched<[[UInt8]]>([])
    transport = MemoryTransport(label: "lamp") { [silence] transport, bytes in
      var batch = FrameBatch<AF1Header>()
      codec.withLock { codec in
        codec.decode(bytes.span.bytes, into: &batch)
        // Frames reach it as a whole.
        #expect(codec.counters.skippedBytes == 0 && !codec.hasUnfinishedFrame)
      }
      for index in 0..<batch.count {
        let header = batch.header(at: index)
        var payload = batch.payloadBytes(at: index)
        if header.command == .hello {
          payload = []
          AF1HelloReply(bootID: 7, largestPayload: 4_096, window: 2).encode(into: &payload)
        } else {
          let all = payload
          heard.update { $0.append(all) }
          if silence.isMute { continue }
        }
        if header.flags.contains(.replyWanted) { transport.receive(AF1Frames.frame(.reply(to: header), payload)) }
      }
    }
    self.heard = heard
  }

  /// From now on it answers nothing but HELLO, or everything again.
  func mute(_ isMute: Bool) { silence.isMute = isMute }

  /// The payloads of the requests so far.
  var payloads: [[UInt8]] { heard.value }

  /// Returns when there were so many requests.
  func payloads(_ count: Int) async throws -> [[UInt8]] { try await heard.wait { $0.count >= count } }
}

private final class RoutingSilence: Sendable {
  private let state = Locked(false)
  var isMute: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

/// Frames of AF1.
enum AF1Frames {
  static func frame(_ header: AF1Header, _ payload: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &bytes)
    return bytes
  }

  static func ask(_ number: UInt16, _ payload: [UInt8]) -> [UInt8] { frame(.request(.echo, number: number), payload) }

  static func answer(_ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    frame(AF1Header(flags: .reply, command: .echo, number: number), payload)
  }

  /// A message without a reply.
  static func tell(_ payload: [UInt8]) -> [UInt8] { frame(AF1Header(flags: [], command: .echo, number: 0), payload) }

  static func event(_ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    frame(.event(.battery, number: number), payload)
  }
}
