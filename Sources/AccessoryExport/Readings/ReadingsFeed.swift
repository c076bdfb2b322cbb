// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The accessories of services with their readings, as the servers of this room call them: a view of the mirror.
package actor ReadingsFeed {
  /// The mirror of the services.
  package let mirror: ServiceMirror
  private var names = ExportNames()

  /// A feed, with alarms if wanted.
  package init(alarms hasAlarms: Bool = false, clock: any TimerClock = IOThread.shared) {
    mirror = ServiceMirror(hasAlarms ? [.values, .readings, .alarms] : [.values, .readings], clock: clock)
  }

  /// Yields after changes, for one reader. Several changes may be one element.
  package nonisolated var news: AsyncStream<Void> { mirror.news }

  /// What is known now.
  package var snapshot: ReadingsSnapshot {
    get async {
      let snapshot = await mirror.snapshot
      return names.name(snapshot)
    }
  }

  /// What is known now, after the services were asked which accessories are there and whether readings are stale, and after
  /// accessories that have just been connected were asked for their readings.
  package func refreshed() async -> ReadingsSnapshot {
    _ = await mirror.refreshed()
    await mirror.firstReadings()
    let snapshot = await mirror.snapshot
    return names.name(snapshot)
  }
}
