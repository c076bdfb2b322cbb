// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryLink
import CommandOutput

/// An accessory whose bytes are traced.
struct TracedAccessory: Followed {
  let trace: any AccessoryTrace
  let live: LiveTrace

  /// Opens the accessory for the trace command. `began` is the plan's start in seconds since 1970, UTC.
  static func open(
    _ found: any FoundAccessory, _ plan: TracePlan, began: Double, capture: CaptureFile?, for command: Trace
  ) async throws -> TracedAccessory {
    let trace = try await found.trace(plan)
    do {
      let live = try LiveTrace(
        view: command.view(capture), silence: trace.silence, framing: TraceFraming(driver: found.driverName),
        began: began, record: command.record, capture: capture, name: trace.name)
      // With --listen the user knows that nothing is sent.
      if !command.asks, !command.listen, let remark = trace.remark { Output.note(remark) }
      return TracedAccessory(trace: trace, live: live)
    } catch {
      await trace.close()
      throw error
    }
  }

  var device: Device { trace.device }
  var servicePath: String? { trace.servicePath }
  func close() async { await trace.close() }
}

extension LiveTrace: TraceSink {}
