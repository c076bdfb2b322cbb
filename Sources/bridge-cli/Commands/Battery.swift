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
    abstract: "Shows an accessory's battery, or those of all in one table.",
    discussion: """
      What the accessory doesn't report is not shown, and is null in JSON. With several accessories and no name it is --all.

      EXAMPLES
        bridge-cli battery
        bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent
        bridge-cli battery SIM0001 --fresh
        bridge-cli battery SIM0001 --watch --alarm 'battery < 20 % for 1 min'
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Keep running: print each change, and wait after an unplug.")
  var watch = false
  @Flag(help: "With --watch: end when the accessory is unplugged.")
  var once = false
  @Flag(help: "Show all batteries in one table.")
  var all = false
  @OptionGroup var reading: ReadingOptions
  @OptionGroup var past: HistoryOptions
  @OptionGroup var alarms: AlarmOptions
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if once, !watch { throw ValidationError("--once needs --watch") }
    if !alarms.rules.isEmpty, !watch { throw ValidationError("--alarm needs --watch") }
    let others = [("--watch", watch), ("--all", all), ("--wait", waiting.wait != nil)]
    try past.check(json: output.json, others + [("--fresh", reading.fresh)])
    guard all else { return }
    if device.text != nil { throw ValidationError("--all is for all accessories: leave the name out") }
    if watch { throw ValidationError("--all and --watch can't be used together") }
    if waiting.wait != nil { throw ValidationError("--all and --wait can't be used together") }
    if line.saysSomething {
      throw ValidationError("--all opens each accessory with the settings of its profile: leave out the settings")
    }
  }

  func run() async throws {
    if let history = past.shown(device.text, .battery, json: output.json) { return try await history.show() }
    if all { return try AllBatteries.show(try await AllBatteries.read(line, reading.wish), json: output.json) }
    do {
      try await showOne()
    } catch let error as ResolutionError where isOfAny {
      guard case .ambiguous(nil, _) = error else { throw error }
      let all = try await AllBatteries.read(line, reading.wish)
      // Several devices without a known driver have no table.
      guard !all.isEmpty else { throw error }
      try AllBatteries.show(all, json: output.json)
    }
  }

  /// Whether one reading of any accessory is wanted, opened as its profile says.
  private var isOfAny: Bool { device.text == nil && !watch && !line.saysSomething }

  private func showOne() async throws {
    let seen = watch ? SeenReadings() : nil
    if watch { Interruption.endWithOutput() }
    let watcher = AlarmWatcher(alarms.rules) { [json = output.json] device, alarm, state in
      AlarmOutput.show(device, alarm, state, json: json)
    }
    let following = Following(name: device.text, line: line, once: once || !watch, json: output.json)
    try await following.run { found in
      try await FollowedReading.open(found, needing: .battery) { opened in
        guard watch else { return (try await opened.battery(reading.wish), nil) }
        let (read, events) = try await opened.battery(
          reading.wish, following: WantedEvents(values: watcher.wantsValues, alarms: true))
        return (read, events)
      }
    } follow: { battery in
      battery.read.noteAge(battery.opened.service)
      var supply = await battery.opened.supply(reading.wish)
      var last = battery.read
      show(last, supply, battery.opened.document, seen)
      await watcher.take(battery.device, battery: battery.read.value)
      guard let events = battery.events else { return }
      for try await event in events {
        switch event.kind {
        case .news(.battery(let reading)):
          last = Read(reading)
          show(last, supply, DeviceDocument(event.device), seen)
          await watcher.take(event.device, battery: reading)
        case .news(.status(let status)): await watcher.take(event.device, status: status)
        case .news(.values(let values)):
          await watcher.take(event.device, values: values)
          // The load changes all the time: it is shown with the next change of the battery.
          let before = supply?.first { $0.value.isSupply }
          supply = supply?.updated(with: values)
          if supply?.first(where: { $0.value.isSupply })?.value != before?.value {
            show(last, supply, DeviceDocument(event.device), seen)
          }
        case .news(.other): break
        case .alarm(let alarm, let state): AlarmOutput.show(event.device, alarm, state, json: output.json)
        }
      }
      try Task.checkCancellation()
    }
  }

  private func show(
    _ read: Read<BatteryReading>, _ supply: ReadValues?, _ device: DeviceDocument, _ seen: SeenReadings?
  ) {
    let read = read.map(\.withTimeToEmpty)
    if output.json { return Output.json(ReadingDocument(device, read, supply: supply)) }
    // The age is that of the first reading, which may be older than the command.
    let time = WallClock.seconds - Double(read.age?.inMilliseconds ?? 0) / 1_000
    let graph = seen?.add(read.value)
    BatteryReport.show(
      read, supply: supply, time: seen.map { _ in LocalTime.text(time, withSeconds: true) },
      graph: Style.standardOutput.isTerminal ? graph : nil)
  }
}
