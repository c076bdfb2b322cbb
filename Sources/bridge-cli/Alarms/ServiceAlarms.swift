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

/// The alarms of all accessories, for a command that keeps running: those of services, and those by rules of the command line.
enum ServiceAlarms {
  /// Calls `body` for each alarm that is raised or raised already, and for each that is cleared. Watches all services that
  /// run now or start later. Returns when the task is cancelled.
  static func watch(_ rules: [AlarmRule], _ body: @escaping AlarmWatcher.Body) async {
    await watch(rules, at: ServicePlace.all(), note: { Output.note($0) }, body)
  }

  /// The same for the services at these sockets. `note` takes what is wrong with the rules.
  static func watch(
    _ rules: [AlarmRule], at places: [String], note: @escaping AlarmWatcher.Note, _ body: @escaping AlarmWatcher.Body
  ) async {
    await withTaskGroup { group in
      for place in places { group.addTask { await watch(place, AlarmWatcher(rules, note: note, body), body) } }
    }
  }

  private static func watch(_ place: String, _ alarms: AlarmWatcher, _ body: @escaping AlarmWatcher.Body) async {
    let watcher = alarms.hasRules ? alarms : nil
    var client: BridgeClient?
    let follower = ServiceFollower(
      [place], values: watcher?.wantsValues == true, alarms: true, replyTimeout: .seconds(60))
    await follower.run { event in
      switch event {
      case .begun(let new): client = new
      case .event(.alarm(let device, let alarm, let state)): await body(device, alarm, state)
      case .event(.present(let device)), .event(.connected(let device)):
        if let client { await first(device, client, watcher) }
      case .event(.battery(let device, let reading, _)): await watcher?.take(device, battery: reading)
      case .event(.status(let device, let status, _)): await watcher?.take(device, status: status)
      case .event(.values(let device, let values, _)): await watcher?.take(device, values: values)
      case .event, .ended: break
      }
    }
    await alarms.end()
  }

  /// Asks for the readings of an accessory that is there.
  private static func first(_ device: Device, _ client: BridgeClient, _ watcher: AlarmWatcher?) async {
    guard let watcher else { return }
    await watcher.watch(device)
    let calls = client.device(device.place)
    if let reply = try? await calls.battery() { await watcher.take(device, battery: reply.battery) }
    if let reply = try? await calls.status() { await watcher.take(device, status: reply.status) }
    guard watcher.wantsValues, let reply = try? await calls.values() else { return }
    await watcher.take(device, values: reply.values.map(\.value))
  }

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
