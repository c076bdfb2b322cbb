// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput
import Glibc

/// Options of all simulators on a pseudo-terminal.
struct SimulatorOptions: ParsableArguments {
  @Option(help: .value("path", "Keep a link to the terminal at this path."), completion: .file()) var link: String?
  @Option(help: .rare("time", "Delay every reply by this time."), transform: TimeArgument.read) var delay: TimeArgument?
  @Option(help: .rare("share", "Share of what it sends that is lost, 0 to 1.")) var drop = 0.0
  @Option(help: .rare("share", "Share of what it sends in which a bit is changed, 0 to 1.")) var corrupt = 0.0
  @Option(help: .rare("name", "Be on the air: a serial port over Bluetooth with this name, and no terminal."))
  var ble: String?
  @Option(help: .rare("The form of the serial port of --ble: hm10, nus or bluno.")) var uart: GATTUART?
  @Option(
    help: .rare("when", "When to unplug: after this time, or in the middle of the reply to this request."),
    transform: MomentArgument.read)
  var unplugAfter: MomentArgument?
  @Option(help: .rare("time", "Plug in again this long after an unplug."), transform: TimeArgument.read)
  var replugAfter: TimeArgument?
  @Option(help: .rare("number", "The seed of an earlier run, to repeat its random faults.")) var seed: UInt64?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let link, link.isEmpty { throw ValidationError("--link needs a path, for example ./acc") }
    if let refusal = ble.flatMap({ GATTUARTServer.Settings($0).refusal }) { throw ValidationError("--ble: \(refusal)") }
    if ble == nil, uart != nil { throw ValidationError("--uart needs --ble NAME") }
    if ble != nil, link != nil {
      throw ValidationError("--ble and --link can't be used together: there is no terminal")
    }
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
  /// for people and fields of JSON; nil hides the event. SIGUSR1 triggers `signal`. `port` is what real ones have on the air, `told` the
  /// service that they advertise where it is another one, `form` the form of their serial port where `port` doesn't say that. `usb` is the USB device that it is, in the place of a terminal.
  func run<Device: SerialDevice>(
    _ device: Device, serial: String, seed: UInt64, onSignal signal: Device.ScheduledAction? = nil,
    onAir port: GATTSettings = GATTSettings(), telling told: BluetoothUUID? = nil, as form: GATTUART = .hm10,
    onUSB usb: SimulatedUSBIdentity? = nil,
    news: @Sendable (Device.News) -> SimulatorNews?
  ) async throws {
    var configuration = SerialSimulator<Device>.Configuration(device, seed: seed)
    configuration.link = link
    if let usb { configuration.connection = .usb(usb) }
    if let ble {
      var own = uart == nil ? GATTUARTServer.Settings(ble, port) : nil
      own?.told = told
      configuration.connection = .bluetooth(own ?? GATTUARTServer.Settings(ble, uart ?? form))
    }
    configuration.faults = faults
    let simulator = SerialSimulator(configuration)
    let handler = signal.flatMap { moment in
      try? Signals([SIGUSR1]) { _ in Task { await simulator.perform(moment) } }
    }
    let view = SimulatorView(json: output.json, serial: serial, seed: seed, link: link)
    try await view.run(simulator, comesBack: replugAfter != nil) { event in
      switch event {
      case .pluggedIn(let path): view.show(view.pluggedIn(path))
      case .unplugged: view.show(.unplugged)
      case .news(let change): view.show(news(change))
      }
    }
    withExtendedLifetime(handler) {}
  }
}

/// Runs a simulator, and shows what happens to it, for people or for programs.
struct SimulatorView {
  let json: Bool
  let serial: String
  let seed: UInt64
  let link: String?

  /// Runs the simulator until it is interrupted, or unplugged for good. `show` shows an event.
  func run<Hosted: Simulator>(
    _ simulator: Hosted, comesBack: Bool, show: (Hosted.Event) -> Void
  ) async throws {
    try await simulator.plugIn()
    await withTaskCancellationHandler {
      for await event in simulator.events {
        show(event)
        if event == .unplugged, !comesBack { break }
      }
    } onCancel: {
      Task { await simulator.stop() }
    }
    await simulator.stop()
  }

  /// The accessory was plugged in at this path.
  func pluggedIn(_ path: String) -> SimulatorNews {
    let link = link.map { ", linked from \(SafeText.escape($0))" } ?? ""
    return SimulatorNews("plugged_in", "\(SafeText.escape(serial)) is plugged in at \(path)\(link)", path: path)
  }

  func show(_ news: SimulatorNews?) {
    guard let news else { return }
    guard json else { return Output.line(news.line) }
    Output.json(
      SimulatorDocument(
        news.event, serial: serial, seed: seed, path: news.path, link: link, text: news.text, bytes: news.bytes,
        number: news.number, unit: news.unit, line: news.state, file: news.file))
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

  /// In JSON: the path where the accessory was plugged in.
  var path: String?
  /// In JSON: the settings of the serial line that the host has made.
  var state: SimulatorDocument.Line?
  /// In JSON: a file that the host has sent.
  var file: SimulatorDocument.File?

  init(
    _ event: String, _ line: String, text: String? = nil, bytes: [UInt8]? = nil, number: Int? = nil, unit: Int? = nil,
    path: String? = nil, state: SimulatorDocument.Line? = nil, file: SimulatorDocument.File? = nil
  ) {
    (self.event, self.line, self.text, self.bytes) = (event, line, text, bytes)
    (self.number, self.unit, self.path, self.state, self.file) = (number, unit, path, state, file)
  }

  /// The accessory was unplugged.
  static var unplugged: SimulatorNews { SimulatorNews("unplugged", "unplugged") }
}

/// Serial numbers for simulated accessories.
enum SimulatedSerial {
  /// What the user chose, or the first of PREFIX1, PREFIX2, … that no simulator uses, with the number padded to `digits`
  /// digits. `usb`: nor any USB device of this machine.
  static func chosen(
    _ choice: String? = nil, or prefix: String, digits: Int, usb: Bool = false
  ) async throws -> String {
    if let choice { return choice }
    let announced = try await SimulatorSource().devices().compactMap(\.serialNumber)
    let taken = Set(announced + (usb ? USBOptions.serialNumbers() : []))
    for number in 1...999_999 {
      let text = String(number)
      let candidate = prefix + String(repeating: "0", count: max(0, digits - text.count)) + text
      if !taken.contains(candidate) { return candidate }
    }
    return prefix
  }
}
