// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput
import Glibc

/// Options of all simulators on a pseudo-terminal.
struct SimulatorOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Keep a link to the terminal at this path.", valueName: "path"), completion: .file())
  var link: String?
  @Option(
    help: ArgumentHelp("Delay every reply by this time.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var delay: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "Share of what it sends that is lost, 0 to 1.", valueName: "share", visibility: HelpTopic.visibility))
  var drop = 0.0
  @Option(
    help: ArgumentHelp(
      "Share of what it sends in which a bit is changed, 0 to 1.", valueName: "share", visibility: HelpTopic.visibility)
  )
  var corrupt = 0.0
  @Option(
    help: ArgumentHelp(
      "When to unplug: after this time, or in the middle of the reply to this piece.", valueName: "when",
      visibility: HelpTopic.visibility),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(
    help: ArgumentHelp("Plug in again this long after an unplug.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "The seed of an earlier run, to repeat its random faults.", valueName: "number", visibility: HelpTopic.visibility)
  )
  var seed: UInt64?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let link, link.isEmpty { throw ValidationError("--link needs a path, for example ./acc") }
    guard (0...1).contains(drop) else { throw ValidationError("--drop must be a share from 0 to 1, for example 0.1") }
    guard (0...1).contains(corrupt) else {
      throw ValidationError("--corrupt must be a share from 0 to 1, for example 0.1")
    }
  }

  var faults: Faults {
    var faults = Faults()
    faults.delay = delay?.duration ?? .zero
    faults.drop = drop
    faults.corrupt = corrupt
    faults.unplug = unplugAfter?.moment
    faults.replug = replugAfter?.duration
    return faults
  }

  /// Runs the simulator until it is interrupted, or unplugged for good. `news` turns an event of the device into text
  /// for people and fields of JSON; nil hides the event. SIGUSR1 triggers `signal`.
  func run<Device: SerialDevice>(
    _ device: Device, serial: String, seed: UInt64, onSignal signal: Device.ScheduledAction? = nil,
    news: @Sendable (Device.News) -> SimulatorNews?
  ) async throws {
    var configuration = SerialSimulator<Device>.Configuration(device, seed: seed)
    configuration.link = link
    configuration.faults = faults
    let simulator = SerialSimulator(configuration)
    let handler = signal.flatMap { moment in
      try? Signals([SIGUSR1]) { _ in Task { await simulator.perform(moment) } }
    }
    try await simulator.plugIn()
    await withTaskCancellationHandler {
      for await event in simulator.events {
        show(event, serial, seed, news)
        if event == .unplugged, replugAfter == nil { break }
      }
    } onCancel: {
      Task { await simulator.stop() }
    }
    await simulator.stop()
    withExtendedLifetime(handler) {}
  }

  private func show<Device: SerialDevice>(
    _ event: SerialSimulator<Device>.Event, _ serial: String, _ seed: UInt64,
    _ news: (Device.News) -> SimulatorNews?
  ) {
    let shown: SimulatorNews?
    var path: String?
    switch event {
    case .pluggedIn(let place):
      path = place
      let link = link.map { ", linked from \(SafeText.escape($0))" } ?? ""
      shown = SimulatorNews("plugged_in", "\(SafeText.escape(serial)) is plugged in at \(place)\(link)")
    case .unplugged: shown = SimulatorNews("unplugged", "unplugged")
    case .news(let change): shown = news(change)
    }
    guard let shown else { return }
    guard output.json else { return Output.line(shown.line) }
    Output.json(
      SimulatorDocument(
        shown.event, serial: serial, seed: seed, path: path, link: link, text: shown.text, bytes: shown.bytes,
        number: shown.number, unit: shown.unit))
  }
}

/// An event of a simulator, for people and for programs.
struct SimulatorNews {
  /// The event's name in JSON.
  let event: String
  /// The line for people. Text of the accessory in it is escaped.
  let line: String
  /// In JSON: the text of the event, unescaped.
  var text: String?
  /// In JSON: the bytes of the event.
  var bytes: [UInt8]?
  /// In JSON: the number of the event.
  var number: Int?
  /// In JSON: the unit on the line.
  var unit: Int?

  init(
    _ event: String, _ line: String, text: String? = nil, bytes: [UInt8]? = nil, number: Int? = nil, unit: Int? = nil
  ) {
    self.event = event
    self.line = line
    self.text = text
    self.bytes = bytes
    self.number = number
    self.unit = unit
  }
}

/// Serial numbers for simulated accessories.
enum SimulatedSerial {
  /// The first of PREFIX1, PREFIX2, … that no simulator uses, with the number padded to `digits` digits.
  static func next(_ prefix: String, digits: Int) async throws -> String {
    let taken = Set(try await SimulatorSource().devices().compactMap(\.serialNumber))
    for number in 1...9_999 {
      let text = String(number)
      let candidate = prefix + String(repeating: "0", count: max(0, digits - text.count)) + text
      if !taken.contains(candidate) { return candidate }
    }
    return prefix
  }
}
