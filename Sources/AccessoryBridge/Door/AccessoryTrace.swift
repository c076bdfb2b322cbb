// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// A trace of the bytes between an accessory and its user.
package protocol AccessoryTrace: Sendable {
  /// The accessory.
  var device: Device { get }
  /// The accessory's name in captures.
  var name: String { get }
  /// The control socket of the service that has the accessory open; nil if this program has.
  var servicePath: String? { get }
  /// The pause after which an unfinished frame is dropped.
  var silence: Duration { get }
  /// What a user must know about a trace that sends nothing; nil if there is nothing to say.
  var remark: String? { get }

  /// Passes all traffic to the sink, and makes the requests of the plan, until the accessory is unplugged or the task is cancelled.
  /// Throws the reason for the end.
  func run(into sink: some TraceSink) async throws
  /// Closes what this program has opened.
  func close() async
}

/// The consumer of a trace. Times are relative to the start of the trace.
package protocol TraceSink: Sendable {
  /// Sets a callback with which the sink requests an empty record after the waiting ones. Called before the first record.
  func begin(mark: @escaping @Sendable () -> Void) async
  /// Takes a record, and returns when it is shown.
  func take(_ record: TraceRecord) async throws
  /// The accessory was unplugged, or plugged in again.
  func plug(_ isThere: Bool, at time: Duration) async throws
  /// Waits until `reader` has ended and everything is shown; returns the result of `reader`. `unplugTime` is the time of the
  /// unplug that ended the trace.
  func end(_ reader: Task<Void, any Error>, unpluggedAt unplugTime: Duration?) async throws -> Result<Void, any Error>
}

/// What a trace does besides showing the traffic.
package struct TracePlan: Sendable {
  /// The moment that is time 0 of the trace.
  package var start: MonotonicTime
  /// Whether to ask for identity, status and battery.
  package var asks: Bool
  /// The interval between repeated requests; nil for no repetition.
  package var poll: Duration?
  /// Whether to end at an unplug, even if a service continues to trace.
  package var once: Bool
  /// Takes a text for people.
  package var note: @Sendable (String) -> Void
  /// Called when the accessory is unplugged (false) or plugged in again, if the trace continues.
  package var plugged: @Sendable (Bool) -> Void

  package init(
    since start: MonotonicTime, asks: Bool, poll: Duration?, once: Bool, note: @escaping @Sendable (String) -> Void,
    plugged: @escaping @Sendable (Bool) -> Void
  ) {
    (self.start, self.asks, self.poll, self.once) = (start, asks, poll, once)
    (self.note, self.plugged) = (note, plugged)
  }
}
