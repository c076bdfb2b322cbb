// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Logging

/// The service: attaches accessories when they are plugged in, and answers calls.
///
/// All decisions are made on one dispatch queue. Nothing on it blocks, and no accessory's bytes pass through it.
package actor BridgeService {
  nonisolated let executor = DispatchExecutor(label: "accessory.service")
  nonisolated let io: IOThread
  nonisolated let clock: any TimerClock
  nonisolated let configuration: ServiceConfiguration
  nonisolated let hooks: ServiceHooks
  let log: Logger
  var profiles: ProfileStore
  nonisolated let drivers: DriverLibrary
  let attachments = AttachmentRoster()
  var nextKey = 0
  var events: EventHub
  var found = FoundDevices()
  let searches = UnitSearches()
  var clientCount = 0
  /// The start of the service: on the clock that also counts the machine's sleep, and in seconds since 1970, UTC.
  nonisolated let started: (clock: MonotonicTime, wallClock: Double)
  var idleTimer: TimerToken?
  var scanTimer: TimerToken?
  var lastStatus = ""
  var statusIsDue = false
  var isClosing = false
  var permissions: Permissions
  let alarms: AlarmWatch
  /// Files that clients supply, by the names of the transfers.
  var supplies: [String: SuppliedFile] = [:]
  let endpoints = SharedEndpoints()
  /// What was read of the accessories, over time.
  let history: HistoryRecorder
  /// Finishes when the service was idle for `exitIdle`.
  package nonisolated let idle: AsyncStream<Void>
  let idleContinuation: AsyncStream<Void>.Continuation

  /// The greatest number of devices that are known at the same time.
  static let deviceLimit = ReplyLimits.devices

  /// The service's dispatch queue, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A service that applies `profiles`, with the drivers in `drivers`.
  package init(
    _ configuration: ServiceConfiguration, profiles: ProfileStore, drivers: DriverLibrary = .builtIn, log: Logger,
    hooks: ServiceHooks = ServiceHooks(), io: IOThread = .shared, clock: (any TimerClock)? = nil
  ) {
    self.drivers = drivers
    self.configuration = configuration
    permissions = Permissions(configuration.commandRules)
    alarms = AlarmWatch(configuration.alarmRules)
    self.profiles = profiles
    self.log = log
    self.hooks = hooks
    events = EventHub(onEvent: hooks.onEvent)
    self.io = io
    self.clock = clock ?? io
    started = (self.clock.bootTime, configuration.wallClock())
    history = HistoryRecorder(
      HistoryKeeper(uptime: self.clock.bootTime, wall: started.wallClock, boot: configuration.boot))
    (idle, idleContinuation) = AsyncStream<Void>.makeStream()
  }

  nonisolated func post(_ body: @escaping @Sendable (isolated BridgeService) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  /// Runs `body` on the service's queue. Returns when it has run.
  func enter(_ body: @Sendable (isolated BridgeService) -> Void) { body(self) }

  /// Returns when the service's queue has run a job, which proves to a watchdog that the queue works.
  package func proveLife() async {}

  // MARK: - The end

  /// Detaches everything. Returns when all devices are closed.
  package func close() async {
    if !isClosing {
      isClosing = true
      for task in found.watching { task.cancel() }
      for token in [idleTimer, scanTimer].compactMap({ $0 }) { clock.cancel(token) }
      alarms.end(on: self)
      searches.end(on: self)
      for attachment in attachments.ordered { release(attachment) }
      endpoints.renew(on: self)
      events.end()
      idleContinuation.finish()
    }
    await endpoints.finish(on: self)
    while let task = closings.first?.value {
      await task.value
    }
    await history.finish(on: self)
  }

  /// The tasks that open or close devices.
  var closings: [Int: Task<Void, Never>] = [:]

  static func text(_ duration: Duration) -> String {
    let milliseconds = duration.inNanoseconds / 1_000_000
    return milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
