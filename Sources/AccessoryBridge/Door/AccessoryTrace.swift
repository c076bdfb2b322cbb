// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// What passes between an accessory and whoever uses it.
package protocol AccessoryTrace: Sendable {
  /// The accessory.
  var device: Device { get }
  /// The accessory's name in captures.
  var name: String { get }
  /// The control socket of the service that has the accessory open; nil when this program has.
  var servicePath: String? { get }
  /// The pause after which an unfinished frame is given up.
  var silence: Duration { get }
  /// What a user must know of a trace that sends nothing; nil where nothing is to be said.
  var remark: String? { get }

  /// Hands all that passes to the sink, and makes the requests that the plan asks for, until the accessory is gone or the
  /// task is cancelled. Throws why it has ended.
  func run(into sink: some TraceSink) async throws
  /// Closes what this program has opened.
  func close() async
}

/// Takes what passes. Times are since the beginning of the trace.
package protocol TraceSink: Sendable {
  /// Sets a callback by which the sink asks for an empty record behind those that wait. Called before the first record.
  func begin(mark: @escaping @Sendable () -> Void) async
  /// Takes a record; waits until it is shown.
  func take(_ record: TraceRecord) async throws
  /// The accessory was unplugged, or plugged in again.
  func plug(_ isThere: Bool, at time: Duration) async throws
  /// Waits until `reader` has ended and everything is shown; returns the result of `reader`. `unplugTime` is the time of the
  /// unplug that ended the trace.
  func end(_ reader: Task<Void, any Error>, unpluggedAt unplugTime: Duration?) async throws -> Result<Void, any Error>
}

/// What a trace does beside showing what passes.
package struct TracePlan: Sendable {
  /// The moment of the trace's time 0.
  package var start: MonotonicTime
  /// Whether it asks for identity, status and battery.
  package var asks: Bool
  /// The interval at which it asks again; nil for never.
  package var poll: Duration?
  /// Whether it ends with an unplug, even where a service continues to trace.
  package var once: Bool
  /// Takes a text for people.
  package var note: @Sendable (String) -> Void
  /// Called when the accessory is gone (false) or back, where the trace continues.
  package var plugged: @Sendable (Bool) -> Void

  /// A plan.
  package init(
    since start: MonotonicTime, asks: Bool, poll: Duration?, once: Bool, note: @escaping @Sendable (String) -> Void,
    plugged: @escaping @Sendable (Bool) -> Void
  ) {
    (self.start, self.asks, self.poll, self.once) = (start, asks, poll, once)
    (self.note, self.plugged) = (note, plugged)
  }
}
