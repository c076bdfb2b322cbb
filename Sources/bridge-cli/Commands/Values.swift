// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Values: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "values",
    abstract: "Shows what an accessory measures beside its battery, with units.",
    discussion: """
      What isn't known is shown as -, and has no number in JSON. An age is shown where a value wasn't read now: the service \
      (bridge-cli serve) keeps what was last heard, while another program has the accessory and of one that only tells \
      values of its own accord. With --watch, values are printed again when they change: as the accessory tells them, or \
      with --poll whenever it is asked.

      EXAMPLES
        bridge-cli values
        bridge-cli values EV3 port_4 volume
        bridge-cli values EV3 port_4 --watch --poll 1s
        bridge-cli values EV3 --json | jq '.values[] | select(.name == "port_4").number'
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: "Only the values of these names; the accessory is to be named then, too.")
  var names: [String] = []
  @Flag(help: "Go on: print values again when they change.")
  var watch = false
  @Option(
    help: ArgumentHelp("With --watch: ask again and again, this long apart.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard let poll else { return }
    if !watch { throw ValidationError("--poll is how often --watch asks: say --watch, too") }
    if poll.duration < .milliseconds(1) { throw ValidationError("--poll is at least 1ms") }
  }

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    if let held = try await HeldDevice.find(device.text, line) { return try await run(held) }
    try await OpenedAccessory.with(device.text, line) { try await run($0) }
  }

  /// Shows the values of an accessory that is open here.
  private func run(_ opened: OpenedAccessory) async throws {
    let accessory = opened.accessory
    var shown = ShownValues(DeviceDocument(opened.device), json: output.json, names: names)
    let news = accessory.news()
    try shown.showFirst(try await accessory.values().map { Bridge.MeasuredValue($0.bounded) }, isComplete: !watch)
    if let poll {
      while true {
        try await pause(poll)
        shown.showChanges(try await accessory.values().map(\.bounded))
      }
    } else if watch {
      for try await case .values(let values) in news { shown.showChanges(values.map(\.bounded)) }
      throw CancellationError()
    }
  }

  /// The same through the service that holds it.
  private func run(_ held: HeldDevice) async throws {
    let events = watch && poll == nil ? try await held.calls.events(values: true) : nil
    let reply = try await held.values()
    var shown = ShownValues(DeviceDocument(reply.device), json: output.json, names: names)
    try shown.showFirst(reply.values, isComplete: !watch)
    if let poll {
      while true {
        try await pause(poll)
        shown.showChanges(try await held.values().values.map(\.reading))
      }
    }
    guard let events else { return }
    for try await event in events {
      switch event {
      case .disconnected(_, let error): throw error
      case .values(_, let values): shown.showChanges(values)
      default: break
      }
    }
    try Task.checkCancellation()
  }

  /// Waits until it is time to ask again; throws when the user has seen enough.
  private func pause(_ poll: TimeArgument) async throws {
    await IOThread.shared.sleep(for: poll.duration)
    try Task.checkCancellation()
  }
}

/// What has been shown of an accessory's values, so that only what changes is shown again.
private struct ShownValues {
  private let device: DeviceDocument
  private let json: Bool
  /// Those that are wanted; all, where it is empty.
  private let names: [String]
  private var last = ValuesReading()

  init(_ device: DeviceDocument, json: Bool, names: [String]) {
    (self.device, self.json, self.names) = (device, json, names)
  }

  private func isWanted(_ name: String) -> Bool { names.isEmpty || names.contains(name) }

  /// Shows what there is. Throws when a name is wanted that there isn't, unless it may still come.
  mutating func showFirst(_ values: [Bridge.MeasuredValue], isComplete: Bool) throws {
    last.take(values.map(\.reading), at: .now)
    if isComplete, let missing = names.first(where: { last[$0] == nil }) {
      let all = values.isEmpty ? "there are none" : "there are " + values.map(\.name).joined(separator: ", ")
      throw UsageError("there is no value \(missing): \(all)")
    }
    let wanted = values.filter { isWanted($0.name) }
    if json { return print(wanted) }
    if !wanted.isEmpty { MeasurementView.table(wanted).forEach(Output.line) }
  }

  /// Shows those that aren't what was last shown.
  mutating func showChanges(_ values: [AccessoryValue]) {
    let changed = last.take(values, at: .now).filter { isWanted($0.name) }
    guard !changed.isEmpty else { return }
    if json { return print(changed.map { Bridge.MeasuredValue($0) }) }
    let width = last.values.map { MeasurementView.name($0.name).count }.max() ?? 0
    for value in changed { Output.line(MeasurementView.line(value, width: width)) }
  }

  private func print(_ values: [Bridge.MeasuredValue]) {
    Output.json(ValuesDocument(device, values))
  }
}
