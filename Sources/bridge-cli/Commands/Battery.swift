// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import ArgumentParser
import CommandOutput
import Glibc

struct Battery: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "battery",
    abstract: "Shows an accessory's battery.",
    discussion: """
      What the accessory doesn't report is not shown, and is null in JSON.

      EXAMPLES
        bridge-cli battery
        bridge-cli battery --all
        bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent
        bridge-cli battery SIM0001 --watch --alarm 'battery < 20 % for 1 min'
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Keep running: print each change, and wait after an unplug.")
  var watch = false
  @Flag(help: "With --watch: end when the accessory is unplugged.")
  var once = false
  @Flag(help: "Show all batteries in one table.")
  var all = false
  @OptionGroup var past: HistoryOptions
  @OptionGroup var alarms: AlarmOptions
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if once, !watch { throw ValidationError("--once needs --watch") }
    if !alarms.rules.isEmpty, !watch { throw ValidationError("--alarm needs --watch") }
    try past.check(json: output.json, [("--watch", watch), ("--all", all), ("--wait", waiting.wait != nil)])
    guard all else { return }
    if device.text != nil { throw ValidationError("--all is for all accessories: leave the name out") }
    if watch { throw ValidationError("--all and --watch exclude each other") }
    if waiting.wait != nil { throw ValidationError("--all and --wait exclude each other") }
    if line.saysSomething {
      throw ValidationError("--all opens each accessory as its profile says: leave the settings out")
    }
  }

  func run() async throws {
    if let history = past.shown(device.text, .battery, json: output.json) { return try await history.show() }
    if all { return AllBatteries.show(try await AllBatteries.read(line), json: output.json) }
    let seen = watch ? SeenReadings() : nil
    func show(
      _ reading: BatteryReading, _ device: DeviceDocument, age: Int? = nil, isStale: Bool = false,
      alarms: [Bridge.Alarm]? = nil, missing: String? = nil
    ) {
      self.show(reading.withTimeToEmpty, device, age: age, isStale: isStale, alarms: alarms, missing: missing, seen)
    }
    if watch { Interruption.endWithOutput() }
    let watcher = AlarmWatcher(alarms.rules) { [json = output.json] device, alarm, state in
      AlarmOutput.show(device, alarm, state, json: json)
    }
    let following = Following(name: device.text, line: line, once: once || !watch, json: output.json)
    try await following.run { name, line in
      try await FollowedBattery.open(name, line, watch: watch, values: watcher.wantsValues)
    } follow: { battery in
      switch battery.source {
      case .open(let opened, let reading, let news):
        let document = DeviceDocument(battery.device)
        let missing = opened.accessory.missing
        OpenedAccessory.note(missing: missing)
        show(reading, document, missing: missing)
        guard watch else { return }
        let facts = Bridge.Device(battery.device)
        await watcher.take(facts, battery: reading)
        for try await event in news {
          switch event {
          case .battery(let reading):
            show(reading, document)
            await watcher.take(facts, battery: reading)
          case .status(let status): await watcher.take(facts, status: status)
          case .values(let values): await watcher.take(facts, values: values)
          case .other: break
          }
        }
        throw CancellationError()
      case .held(let held, let reply, let events):
        held.noteAge(reply.age_ms)
        OpenedAccessory.note(missing: reply.missing)
        show(
          reply.battery.reading, DeviceDocument(reply.device), age: reply.age_ms, isStale: reply.stale == true,
          alarms: reply.alarms, missing: reply.missing)
        await watcher.take(reply.device, battery: reply.battery.reading)
        guard let events else { return }
        var isReady = false
        for try await event in events {
          switch event {
          case .disconnected(_, let error): throw error
          case .battery(let device, let reading):
            show(reading, DeviceDocument(device))
            await watcher.take(device, battery: reading)
          case .status(let device, let status): await watcher.take(device, status: status)
          case .values(let device, let values): await watcher.take(device, values: values)
          // What was raised before is shown with the first reading.
          case .alarm(let device, let alarm, let state) where isReady:
            AlarmOutput.show(device, alarm, state, json: output.json)
          case .ready: isReady = true
          default: break
          }
        }
        try Task.checkCancellation()
      }
    }
  }

  private func show(
    _ reading: BatteryReading, _ device: DeviceDocument, age: Int?, isStale: Bool, alarms: [Bridge.Alarm]?,
    missing: String?, _ seen: SeenReadings?
  ) {
    if output.json {
      return Output.json(BatteryDocument(device, reading, age: age, isStale: isStale, alarms: alarms, missing: missing))
    }
    // The age is that of the first reading, which may be older than the command.
    let time = WallClock.seconds - Double(age ?? 0) / 1_000
    let graph = seen?.add(reading)
    BatteryReport.show(
      reading, age: age, isStale: isStale, alarms: alarms,
      time: seen.map { _ in LocalTime.text(time, withSeconds: true) },
      graph: Style.standardOutput.isTerminal ? graph : nil)
  }
}

/// An accessory whose battery is shown, with its first reading and its events.
private struct FollowedBattery: Followed {
  enum Source: Sendable {
    case open(OpenedAccessory, BatteryReading, EventStream<AccessoryNews>)
    /// Held by a service.
    case held(HeldDevice, Bridge.GetBattery.Reply, BridgeEvents?)
  }

  let source: Source

  /// `values`: whether values are wanted of a service, too.
  static func open(
    _ name: String?, _ line: LineOptions, watch: Bool, values: Bool
  ) async throws -> FollowedBattery {
    if let held = try await HeldDevice.find(name, line) {
      let events = watch ? try await held.calls.events(values: values, alarms: true) : nil
      return FollowedBattery(source: .held(held, try await held.battery(), events))
    }
    let opened = try await OpenedAccessory.contact(
      try await OpenedAccessory.find(name, line), needing: .battery)
    do {
      let (reading, news) = try await OpenedAccessory.answer(of: opened.accessory.label) {
        () async throws(AccessoryError) in try await opened.accessory.batteryAndNews()
      }
      return FollowedBattery(source: .open(opened, reading, news))
    } catch {
      await opened.accessory.close()
      throw error
    }
  }

  var device: Device {
    switch source {
    case .open(let opened, _, _): opened.device
    case .held(let held, _, _): Device(held.accessory.device)
    }
  }

  var servicePath: String? { if case .held(let held, _, _) = source { held.socketPath } else { nil } }

  func close() async { if case .open(let opened, _, _) = source { await opened.accessory.close() } }
}
