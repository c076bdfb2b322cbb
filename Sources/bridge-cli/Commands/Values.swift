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
    abstract: "Shows what an accessory measures besides its battery, with units.",
    discussion: """
      An unknown value is shown as -, and has no number in JSON. An age is shown if a value was not read just now: the \
      service (bridge-cli serve) keeps the last values while another program uses the accessory, and those of \
      accessories that only report by themselves. With --watch, values are printed again when they change: when the \
      accessory reports them, or with --poll when it is asked.

      With --history the numbers of the last 24 hours, or of the time behind it, are drawn as graphs. They are those that \
      the service has read meanwhile; the accessory isn't asked.

      EXAMPLES
        bridge-cli values
        bridge-cli values EV3 port_4 volume
        bridge-cli values EV3 port_4 --watch --poll 1s
        bridge-cli values EV3 port_4 --history 1h
        bridge-cli values EV3 --json | jq '.values[] | select(.name == "port_4").number'
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: "Only the values with these names; needs the device, too.")
  var names: [String] = []
  @Flag(help: "Keep running: print values again when they change. Wait for the accessory after an unplug.")
  var watch = false
  @Flag(help: "With --watch: end when the accessory is unplugged.")
  var once = false
  @Option(
    help: ArgumentHelp("With --watch: ask at this interval.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @OptionGroup var past: HistoryOptions
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if once, !watch { throw ValidationError("--once needs --watch") }
    try past.check(json: output.json, [("--watch", watch), ("--wait", waiting.wait != nil)])
    guard let poll else { return }
    if !watch { throw ValidationError("--poll needs --watch") }
    if poll.duration < .milliseconds(1) { throw ValidationError("--poll must be at least 1ms") }
  }

  func run() async throws {
    if let history = past.history {
      return try await ShownHistory(
        name: device.text, names: names.isEmpty ? nil : names, seconds: history.seconds, options: past,
        json: output.json
      ).show()
    }
    if watch { Interruption.endWithOutput() }
    let shown = ShownValues(json: output.json, names: names)
    let following = Following(name: device.text, line: line, once: once || !watch, json: output.json)
    try await following.run { name, line in
      try await FollowedValues.open(name, line, isToldOf: watch && poll == nil)
    } follow: { followed in
      try shown.show(followed.values, isComplete: !watch) { ValuesDocument(followed.document, $0) }
      if let poll {
        while true {
          try await pause(poll)
          shown.showChanges(try await followed.again()) { ValuesDocument(followed.document, $0) }
        }
      }
      if watch { try await follow(followed, shown) }
    }
  }

  /// Shows the values that the accessory announces.
  private func follow(_ followed: FollowedValues, _ shown: ShownValues) async throws {
    func show(_ values: [AccessoryValue]) {
      shown.showChanges(values) { ValuesDocument(followed.document, $0) }
    }
    switch followed.source {
    case .open(_, let news):
      for try await case .values(let values) in news { show(values.map(\.bounded)) }
      throw CancellationError()
    case .held(_, let events):
      guard let events else { return }
      for try await event in events {
        switch event {
        case .disconnected(_, let error): throw error
        case .values(_, let values): show(values)
        default: break
        }
      }
      try Task.checkCancellation()
    }
  }

  /// Waits until the next poll. Throws `CancellationError` when the command is interrupted.
  private func pause(_ poll: TimeArgument) async throws {
    await IOThread.shared.sleep(for: poll.duration)
    try Task.checkCancellation()
  }
}
