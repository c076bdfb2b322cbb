// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

/// An accessory whose bytes are shown.
struct TracedAccessory: Followed {
  enum Source: Sendable {
    case open(DeviceOpener, AccessorySession, TraceTap)
    /// With the service that holds it.
    case held(HeldDevice, BridgeStream<Bridge.Trace>, BridgeEvents)
  }

  let device: Device
  let source: Source
  let live: LiveTrace

  /// Opens it for `command`; times are those since `start`, which was `began` seconds after the beginning of 1970, UTC.
  static func open(
    _ name: String?, _ line: LineOptions, since start: MonotonicTime, began: Double, for command: Trace
  ) async throws -> TracedAccessory {
    if let held = try await HeldDevice.find(name, line, asLine: true) {
      if command.poll != nil { try held.requireDriver() }
      // First, so that nothing is missed of what ends the trace.
      let events = try await held.calls.events()
      let pieces = try await held.calls.trace()
      let framing = TraceFraming(driver: held.accessory.driver)
      let live = try LiveTrace(
        view: command.view, silence: held.silence, framing: framing, began: began, record: command.record)
      return TracedAccessory(
        device: Device(held.accessory.device), source: .held(held, pieces, events), live: live)
    }
    var target = try await OpenedAccessory.find(name, line, asLine: true)
    if target.driver == nil, command.poll != nil { throw await OpenedAccessory.withoutDriver(target) }
    let tap = TraceTap(since: start)
    target.opener.tap = tap
    let session = try await target.unguardedSession()
    do {
      let live = try LiveTrace(
        view: command.view, silence: session.transport.timing.silence,
        framing: TraceFraming(driver: target.driver?.name), began: began, record: command.record)
      if target.driver == nil, !command.listen {
        Output.note("only listening: " + SafeText.escape(target.opener.withoutDriver.message, limit: 1_000))
      }
      return TracedAccessory(device: target.device, source: .open(target.opener, session, tap), live: live)
    } catch {
      await session.close()
      throw error
    }
  }

  var lender: String? { if case .held(let held, _, _) = source { held.place } else { nil } }

  func close() async { if case .open(_, let session, _) = source { await session.close() } }
}
