// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import BridgeService
import CommandOutput
import Logging

/// The alarms of services' accessories: those that services raise, and those by rules of the command line. A view of
/// the services' mirror, which takes each event.
struct ServiceAlarms: Sendable {
  /// Takes an alarm. `place` is the socket of the service whose readings have raised it by a rule of the command line; nil for an alarm
  /// of the service itself.
  typealias Body = @Sendable (Device, AccessoryAlarm, AlarmChange, _ place: String?) async -> Void

  /// The data that the mirror requests.
  let interests: ServiceMirror.Interests
  /// The alarms of the command line's rules, by the services' sockets. Empty without rules.
  private let watchers: [String: AlarmWatcher]
  private let body: Body

  /// Calls `body` for each alarm that is raised or raised already, and for each that is cleared. `note` takes what is wrong
  /// with the rules.
  init(
    _ rules: [AlarmRule], at places: [String], note: @escaping AlarmWatcher.Note = { Output.note($0) },
    _ body: @escaping Body
  ) {
    self.body = body
    let watchers =
      rules.isEmpty
      ? [] : places.map { place in (place, AlarmWatcher(rules, note: note) { await body($0, $1, $2, place) }) }
    self.watchers = Dictionary(watchers) { first, _ in first }
    let readings: ServiceMirror.Interests = rules.contains { $0.looksAtValues } ? [.readings, .values] : .readings
    interests = rules.isEmpty ? .alarms : readings.union(.alarms)
  }

  /// Takes what the mirror has learned of the service at `place`.
  func take(_ event: MirrorEvent, of place: String) async {
    let watcher = watchers[place]
    switch event {
    case .event(.alarm(let device, let alarm, let state)): await body(device, alarm, state, nil)
    case .event(.present(let device)), .event(.connected(let device)): await watcher?.watch(device)
    case .event(.battery(let device, let reading, _)): await watcher?.take(device, battery: reading)
    case .event(.status(let device, let status, _)): await watcher?.take(device, status: status)
    case .event(.values(let device, let values, _)): await watcher?.take(device, values: values)
    case .read(let device, let answers):
      if let battery = answers.battery { await watcher?.take(device, battery: battery.value) }
      if let status = answers.status { await watcher?.take(device, status: status.value) }
      if let values = answers.values { await watcher?.take(device, values: values) }
    case .begun, .event, .ended: break
    }
  }

  /// Ends the rules' timers.
  func end() async { for watcher in watchers.values { await watcher.end() } }

  /// Whether a service runs on this machine that this user may ask.
  static func isServiceThere() async -> Bool {
    for place in ServicePlace.all() {
      guard let client = try? await BridgeClient.connect(to: place, replyTimeout: .seconds(2)) else { continue }
      client.close()
      return true
    }
    return false
  }

  /// Opens the accessories that profiles fit in this process, as a service does, and watches them by these rules and by
  /// those of their profiles. Returns when the task is cancelled.
  static func hold(_ rules: [AlarmRule], _ sources: [any DeviceSource], _ body: @escaping AlarmWatcher.Body) async {
    var configuration = ServiceOptions.standardConfiguration
    configuration.alarmRules = AlarmRules(typed: rules)
    let (events, continuation) = AsyncStream<Bridge.Event>.makeStream(bufferingPolicy: .bufferingNewest(4_096))
    var hooks = ServiceHooks()
    hooks.onEvent = { if $0.event == .alarm { continuation.yield($0) } }
    let log = Logger(label: BridgeCLI.name) { _ in SwiftLogNoOpLogHandler() }
    let service = BridgeService(
      configuration, profiles: await KnownProfiles.store, drivers: KnownDrivers.library, log: log, hooks: hooks)
    await service.watch(sources)
    for await event in events {
      guard let device = event.device, let alarm = event.alarm, let state = event.state else { continue }
      await body(device, alarm, state)
    }
    await service.close()
  }
}
