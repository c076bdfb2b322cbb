// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

/// An accessory whose bytes are traced.
struct TracedAccessory: Followed {
  enum Source: Sendable {
    case open(DeviceOpener, AccessorySession, TraceTap)
    /// Open in a service.
    case held(HeldDevice, BridgeStream<Bridge.Trace>, BridgeEvents)
  }

  let device: Device
  let source: Source
  let live: LiveTrace

  /// Opens the accessory for the trace command. Times are relative to `start`; `began` is the same moment in seconds
  /// since 1970, UTC.
  static func open(
    _ name: String?, _ line: LineOptions, since start: MonotonicTime, began: Double, capture: CaptureFile?,
    for command: Trace
  ) async throws -> TracedAccessory {
    let view = command.view(capture)
    if let held = try await HeldDevice.find(name, line, asLine: true) {
      if command.asks { try held.requireDriver() }
      // Subscribed before the trace starts, so that a disconnection in between isn't missed.
      let events = try await held.calls.events()
      let pieces = try await held.calls.trace()
      let framing = TraceFraming(driver: held.accessory.driver)
      let live = try LiveTrace(
        view: view, silence: held.silence, framing: framing, began: began, record: command.record, capture: capture,
        name: held.name)
      return TracedAccessory(
        device: Device(held.accessory.device), source: .held(held, pieces, events), live: live)
    }
    var target = try await OpenedAccessory.find(name, line, asLine: true)
    if target.driver == nil, command.asks { throw await OpenedAccessory.withoutDriver(target) }
    let tap = TraceTap(since: start)
    target.opener.tap = tap
    let session = try await target.unguardedSession()
    return try await attempt {
      let live = try LiveTrace(
        view: view, silence: session.transport.timing.silence,
        framing: TraceFraming(driver: target.driver?.name), began: began, record: command.record, capture: capture,
        name: target.device.id)
      // Whoever says --listen knows.
      if !command.asks, !command.listen { Output.note(Trace.watchingNote(target.opener)) }
      return TracedAccessory(device: target.device, source: .open(target.opener, session, tap), live: live)
    } onFailure: { _ in
      await session.close()
    }
  }

  var servicePath: String? { if case .held(let held, _, _) = source { held.socketPath } else { nil } }

  func close() async { if case .open(_, let session, _) = source { await session.close() } }
}
