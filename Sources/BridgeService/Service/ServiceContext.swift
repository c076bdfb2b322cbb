// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import Logging

/// What the service was given at its start, for all its parts: queue, clock, configuration, log.
struct ServiceContext: Sendable {
  let executor = DispatchExecutor(label: "accessory.service")
  let io: IOThread
  let clock: any TimerClock
  let configuration: ServiceConfiguration
  let hooks: ServiceHooks
  let log: Logger
  let drivers: DriverLibrary
  /// The start of the service: on the clock that also counts the machine's sleep, and in seconds since 1970, UTC.
  let started: (clock: MonotonicTime, wallClock: Double)
  /// Finishes when the service was idle for `exitIdle`.
  let idle: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

  init(
    _ configuration: ServiceConfiguration, _ drivers: DriverLibrary, _ log: Logger, _ hooks: ServiceHooks,
    _ io: IOThread, _ clock: any TimerClock
  ) {
    (self.configuration, self.drivers, self.log, self.hooks) = (configuration, drivers, log, hooks)
    (self.io, self.clock) = (io, clock)
    started = (clock.bootTime, configuration.wallClock())
    idle = AsyncStream<Void>.makeStream()
  }
}

extension BridgeService {
  nonisolated var io: IOThread { context.io }
  nonisolated var clock: any TimerClock { context.clock }
  nonisolated var configuration: ServiceConfiguration { context.configuration }
  nonisolated var log: Logger { context.log }
  nonisolated var hooks: ServiceHooks { context.hooks }
  nonisolated var drivers: DriverLibrary { context.drivers }
}
