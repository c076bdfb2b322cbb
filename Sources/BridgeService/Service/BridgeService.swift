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
  nonisolated let context: ServiceContext
  var profiles: ProfileStore
  let attachments = AttachmentRoster()
  var found = FoundDevices()
  let twins: KnownTwins
  let memory: AccessoryMemory
  var clients: ServiceClients
  var permissions: Permissions
  let alarms: AlarmWatch
  let endpoints = SharedEndpoints()
  /// The connections of Bluetooth adapters.
  var air = AirConnections()
  /// The readings of the accessories over time.
  let history: HistoryRecorder
  let life = ServiceLife()

  /// The greatest number of devices that are known at the same time.
  static let deviceLimit = ReplyLimits.devices

  /// The service's dispatch queue, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { context.executor.asUnownedSerialExecutor() }

  /// A service that applies `profiles`, with the drivers in `drivers`.
  package init(
    _ configuration: ServiceConfiguration, profiles: ProfileStore, drivers: DriverLibrary, log: Logger,
    hooks: ServiceHooks = ServiceHooks(), io: IOThread = .shared, clock: (any TimerClock)? = nil
  ) {
    context = ServiceContext(configuration, drivers, log, hooks, io, clock ?? io)
    self.profiles = profiles
    clients = ServiceClients(events: EventHub(onEvent: hooks.onEvent))
    permissions = Permissions(configuration.commandRules)
    alarms = AlarmWatch(configuration.alarmRules)
    twins = KnownTwins()
    memory = AccessoryMemory(forgetAfter: configuration.forgetAfter, configured: configuration.names)
    history = HistoryRecorder(
      HistoryKeeper(uptime: context.started.clock, wall: context.started.wallClock, boot: configuration.boot))
  }

  nonisolated func post(_ body: @escaping @Sendable (isolated BridgeService) -> Void) {
    context.executor.post { self.assumeIsolated(body) }
  }

  /// Runs `body` on the service's queue. Returns when it has run.
  func enter(_ body: @Sendable (isolated BridgeService) -> Void) { body(self) }

  /// Returns when the service's queue has run a job, which proves to a watchdog that the queue works.
  package func proveLife() async {}

  // MARK: - What it has to do

  /// Sets the number of clients.
  package nonisolated func noteClients(_ count: Int) {
    post { service in
      service.clients.count = count
      service.checkIdle()
    }
  }

  /// Call this when the service may have something to do, or nothing more to do.
  func checkIdle() { life.check(on: self) }

  /// Finishes when the service was idle for `exitIdle`.
  package nonisolated var idle: AsyncStream<Void> { context.idle.stream }

  /// Whether the service has work, including devices that the sources haven't reported yet; asked before the service
  /// ends.
  package func hasWork() async -> Bool { await life.hasWork(on: self) }

  /// Runs a task that the service waits for before it ends.
  @discardableResult
  func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> { life.run(on: self, body) }

  // MARK: - The end

  /// Whether the service ends.
  var isClosing: Bool { life.isClosing }

  /// Detaches everything. Returns when all devices are closed.
  package func close() async {
    if life.beginEnd(on: self) {
      found.end(clock)
      renewWishes()
      alarms.end(on: self)
      memory.end(on: self)
      found.searches.end(on: self)
      for attachment in attachments.ordered { release(attachment) }
      endpoints.renew(on: self)
      clients.events.end()
      context.idle.continuation.finish()
    }
    await endpoints.finish(on: self)
    await life.finishTasks(on: self)
    await history.finish(on: self)
    await twins.kept.finish(on: self)
    await memory.kept.finish(on: self)
  }

  static func text(_ duration: Duration) -> String {
    let milliseconds = duration.inNanoseconds / 1_000_000
    return milliseconds.isMultiple(of: 1_000) ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
  }
}
