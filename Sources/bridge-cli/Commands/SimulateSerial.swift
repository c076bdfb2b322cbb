// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput
import Glibc

/// Options of all accessories that are pretended on a pseudo-terminal.
struct SimulatorOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Keep a link to the terminal at this path.", valueName: "path"), completion: .file())
  var link: String?
  @Option(
    help: ArgumentHelp("Time that every answer takes longer.", valueName: "time"), transform: TimeArgument.read)
  var delay: TimeArgument?
  @Option(help: ArgumentHelp("Share of what it sends that is lost, 0 to 1.", valueName: "share"))
  var drop = 0.0
  @Option(help: ArgumentHelp("Share of what it sends in which a bit is changed, 0 to 1.", valueName: "share"))
  var corrupt = 0.0
  @Option(
    help: ArgumentHelp("Unplug; at a piece of what arrives, amid its answer.", valueName: "when"),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(
    help: ArgumentHelp("Plug in again this time after an unplug.", valueName: "time"), transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @Option(help: ArgumentHelp("Repeat what was random in an earlier run.", valueName: "number"))
  var seed: UInt64?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let link, link.isEmpty { throw ValidationError("--link wants a path, for example ./acc") }
    guard (0...1).contains(drop) else { throw ValidationError("--drop is a share from 0 to 1, for example 0.1") }
    guard (0...1).contains(corrupt) else { throw ValidationError("--corrupt is a share from 0 to 1, for example 0.1") }
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

  /// Pretends to be `device` until it is interrupted, or unplugged for good. `news` says what it tells, for people and as
  /// JSON; nil is not shown. `signal` happens on SIGUSR1.
  func run<Device: SerialDevice>(
    _ device: Device, serial: String, seed: UInt64, onSignal signal: Device.Moment? = nil,
    news: @Sendable (Device.News) -> SimulatorNews?
  ) async throws {
    var configuration = SerialSimulator<Device>.Configuration(device, seed: seed)
    configuration.link = link
    configuration.faults = faults
    let simulator = SerialSimulator(configuration)
    let handler = signal.flatMap { moment in
      try? Signals([SIGUSR1]) { _ in Task { await simulator.happen(moment) } }
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
    case .news(let told): shown = news(told)
    }
    guard let shown else { return }
    guard output.json else { return Output.line(shown.line) }
    Output.json(
      SimulatorDocument(
        shown.event, serial: serial, seed: seed, path: path, link: link, text: shown.text, bytes: shown.bytes,
        number: shown.number, unit: shown.unit))
  }
}

/// What happened to a pretended accessory, for people and for programs.
struct SimulatorNews {
  /// In JSON.
  let event: String
  /// For people, escaped.
  let line: String
  /// In JSON: what it was about, as it was sent.
  var text: String?
  /// In JSON: bytes that it was about.
  var bytes: [UInt8]?
  /// In JSON: the number that it was about.
  var number: Int?
  /// In JSON: which of several accessories on the line.
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

/// Serial numbers for pretended accessories.
enum SimulatedSerial {
  /// The first of PREFIX1, PREFIX2, … with so many digits that no simulator has.
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
