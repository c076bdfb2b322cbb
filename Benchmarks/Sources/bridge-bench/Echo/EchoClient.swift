// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import CFloor
import Dispatch
import FamilyAF1
import Synchronization

/// The shortest way to exchange ECHO requests over a transport: no link, no tasks.
///
/// Replies are decoded, and the next request is made, on a dispatch queue, or, without one, on the I/O thread itself.
/// The latter is for comparison only: what parses doesn't belong there.
final class EchoClient: Sendable {
  private typealias Outcome = Result<[Int64], Failure>

  private struct State {
    var codec = AF1Codec(maximumPayload: 4_096)
    var batch = FrameBatch<AF1Header>()
    var buffer: [UInt8] = []
    var frame: [UInt8] = []
    var number: UInt16 = 0
    var start: Int64 = 0
    var times: [Int64] = []
    var waiting: CheckedContinuation<Outcome, Never>?
  }

  private let transport: any Transport
  private let payload: [UInt8]
  private let count: Int
  private let queue: DispatchQueue?
  private let state = Mutex(State())

  init(_ transport: any Transport, payload: [UInt8], count: Int, queue: DispatchQueue?) {
    self.transport = transport
    self.payload = payload
    self.count = count
    self.queue = queue
  }

  /// The time of each request, in nanoseconds.
  func run() async throws(Failure) -> [Int64] {
    try await withCheckedContinuation { continuation in
      state.withLock { state in
        state.times.reserveCapacity(count)
        state.waiting = continuation
      }
      transport.input.onReadable { [weak self, queue] in
        if let queue { queue.async { [weak self] in self?.drain() } } else { self?.drain() }
      }
      if let queue {
        queue.async { self.state.withLock { self.ask(&$0) } }
      } else {
        IOThread.shared.post { self.state.withLock { self.ask(&$0) } }
      }
    }.get()
  }

  private func ask(_ state: inout State) {
    state.start = cfloor_now()
    state.frame.removeAll(keepingCapacity: true)
    try? state.codec.encode(.request(.echo, number: state.number), payload: payload, into: &state.frame)
    _ = transport.output.offer(state.frame)
  }

  private func drain() {
    let finished = state.withLock { state -> (CheckedContinuation<Outcome, Never>, Outcome)? in
      while case .bytes = transport.input.take(into: &state.buffer) {
        let bytes = state.buffer
        state.codec.decode(bytes.span.bytes, into: &state.batch)
        defer { state.batch.removeAll() }
        for index in 0..<state.batch.count {
          let header = state.batch.header(at: index)
          guard header.number == state.number, state.batch.payloadBytes(at: index) == payload else {
            return state.waiting.map { ($0, .failure(Failure("the device echoed something else"))) }
          }
          state.times.append(cfloor_now() - state.start)
          state.number &+= 1
          guard state.times.count < count else { return state.waiting.map { ($0, .success(state.times)) } }
          ask(&state)
        }
      }
      return nil
    }
    if let (waiting, result) = finished { waiting.resume(returning: result) }
  }
}
