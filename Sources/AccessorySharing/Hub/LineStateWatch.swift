// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// Compares the counters of a line's driver with the last reading, and returns the new events for NOTIFY-LINESTATE.
struct LineStateWatch: Sendable {
  /// The driver's last reading; nil before the first.
  private(set) var last: LineActivity?
  /// The number of unsent bytes in the driver at the last reading.
  private(set) var unsentCount = 0
  /// Whether the driver supports readings.
  var isPossible = true

  /// Stores a reading, and returns the events since the last one. The first reading returns no events, because its counters include
  /// events from before the device was opened.
  mutating func take(_ activity: LineActivity) -> COMPortLineState {
    defer { last = activity }
    unsentCount = activity.unsentCount
    guard let last else { return [] }
    var events: COMPortLineState = []
    if activity.overruns != last.overruns { events.insert(.overrun) }
    if activity.parityErrors != last.parityErrors { events.insert(.parityError) }
    if activity.framingErrors != last.framingErrors { events.insert(.framingError) }
    if activity.breaks != last.breaks { events.insert(.breakSeen) }
    return events
  }
}
