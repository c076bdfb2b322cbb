// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

extension HeldAccessory {
  func trace(_ plan: TracePlan) async throws(AccessoryError) -> any AccessoryTrace {
    if plan.asks { try checkDriver() }
    // Subscribe before the trace starts, so that no disconnection is missed.
    let events = try await calls.events()
    return HeldTrace(found: self, plan: plan, events: events, pieces: try await calls.trace())
  }
}

/// A trace of the bytes between an accessory and the service that has it open.
struct HeldTrace: AccessoryTrace {
  let found: HeldAccessory
  let plan: TracePlan
  let events: BridgeEvents
  let pieces: BridgeStream<Bridge.Trace>

  var device: Device { found.device }
  var name: String { found.entry.accessory.device.place }
  var servicePath: String? { found.entry.socketPath }
  /// The service doesn't report the line's speed here, so this is the value for a transport without a baud rate. It is
  /// right for all but the slowest lines.
  var silence: Duration { LineTiming.instant.silence }
  var remark: String? { nil }

  func run(into sink: some TraceSink) async throws {
    // This process buffers nothing: the service limits the queue, and reports how many bytes it has dropped.
    let reader = Task {
      await sink.begin {
        Task { try? await sink.take(TraceRecord(time: .now - plan.start, direction: .fromDevice, bytes: [])) }
      }
      var conversation: Task<Void, any Error>?
      defer { conversation?.cancel() }
      for try await piece in pieces {
        if plan.asks, conversation == nil { conversation = Task { try await converse() } }
        guard let direction = ByteDirection(rawValue: piece.direction), let bytes = piece.bytes,
          let moment = piece.moment
        else { throw found.calls.invalidReplyError }
        if let note = piece.note {
          try await sink.take(TraceRecord(time: max(.zero, moment - plan.start), note: note))
          continue
        }
        // The service's monotonic clock is ours, because both programs run on this kernel.
        try await sink.take(
          TraceRecord(
            time: max(.zero, moment - plan.start), direction: direction, bytes: bytes, lostBytes: piece.lost_bytes ?? 0)
        )
      }
    }
    // The service's trace continues when the accessory is unplugged and comes back.
    let end = Locked<AccessoryError?>(nil)
    let eventTask = Task {
      for try await event in events {
        switch event {
        case .disconnected(_, let error) where plan.once || error.kind == .cancelled:
          end.withLock { $0 = error }
          return reader.cancel()
        case .disconnected:
          try await sink.plug(false, at: .now - plan.start)
          plan.plugged(false)
        case .connected:
          try await sink.plug(true, at: .now - plan.start)
          plan.plugged(true)
        default: break
        }
      }
    }
    let outcome = try await withTaskCancellationHandler {
      try await sink.end(reader, unpluggedAt: nil)
    } onCancel: {
      reader.cancel()
    }
    // The end of the trace and its reason arrive on two connections, so the reason may arrive later.
    if isEndOfTrace(outcome), !Task.isCancelled {
      let limit = Task {
        await IOThread.shared.sleep(for: .seconds(5))
        eventTask.cancel()
      }
      _ = await eventTask.result
      limit.cancel()
    }
    eventTask.cancel()
    try Task.checkCancellation()
    // The service's reason for closing the accessory is more precise than the generic `disconnected`.
    if let error = end.withLock({ $0 }) { throw error }
    try outcome.get()
    throw AccessoryError.disconnected(name)
  }

  /// Whether the service has ended the trace because it closed the accessory.
  private func isEndOfTrace(_ outcome: Result<Void, any Error>) -> Bool {
    switch outcome {
    case .success: true
    case .failure(let error): (error as? AccessoryError)?.kind == .disconnected
    }
  }

  /// Asks the service to send the requests, and repeats them if the plan says so. A failed request shows in the trace.
  private func converse() async throws {
    let accessory = try found.open(needing: nil)
    repeat {
      _ = try? await accessory.status()
      do { _ = try await accessory.battery() } catch { _ = try? await accessory.values() }
      guard let poll = plan.poll else { return }
      await IOThread.shared.sleep(for: poll)
    } while !Task.isCancelled
  }

  func close() {}
}
