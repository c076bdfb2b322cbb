// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// A view of the mirror for exporters: the services' accessories with their readings and export names.
package actor ReadingsFeed {
  package let mirror: ServiceMirror
  private var names = ExportNames()

  /// Creates a feed; `alarms` says whether it includes alarms, and `more` what else the mirror follows.
  package init(
    alarms hasAlarms: Bool = false, also more: ServiceMirror.Interests = [], clock: any TimerClock = IOThread.shared
  ) {
    var interests: ServiceMirror.Interests = [.values, .readings, .absent]
    if hasAlarms { interests.insert(.alarms) }
    mirror = ServiceMirror(interests.union(more), clock: clock)
  }

  /// Yields after changes, for one reader. One element may stand for several changes.
  package nonisolated var news: AsyncStream<Void> { mirror.news }

  /// The current state.
  package var snapshot: ReadingsSnapshot {
    get async {
      let snapshot = await mirror.snapshot
      return named(snapshot)
    }
  }

  /// Accessories that a service has never had open aren't exported: those that it opens for the first time, and those that it can't open.
  private func named(_ snapshot: MirrorSnapshot) -> ReadingsSnapshot {
    let known = snapshot.accessories.filter { $0.isConnected || $0.disconnectCount > 0 || $0.record?.last_seen != nil }
    return names.name(MirrorSnapshot(accessories: known, services: snapshot.services))
  }

  /// The current state after a refresh. The refresh asks the services which accessories exist and whether readings are stale, and
  /// asks newly connected accessories for their readings.
  package func refreshed() async -> ReadingsSnapshot {
    _ = await mirror.refreshed()
    await mirror.firstReadings()
    let snapshot = await mirror.snapshot
    return named(snapshot)
  }
}
