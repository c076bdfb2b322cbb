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
  @Flag(help: "Go on: print values again when they change. When the accessory goes, wait for it.")
  var watch = false
  @Flag(help: "With --watch: end when the accessory goes.")
  var once = false
  @Option(
    help: ArgumentHelp("With --watch: ask again and again, this long apart.", valueName: "time"),
    transform: TimeArgument.read)
  var poll: TimeArgument?
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if once, !watch { throw ValidationError("--once is for --watch") }
    guard let poll else { return }
    if !watch { throw ValidationError("--poll is how often --watch asks: say --watch, too") }
    if poll.duration < .milliseconds(1) { throw ValidationError("--poll is at least 1ms") }
  }

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    let shown = ShownValues(json: output.json, names: names)
    let following = Following(name: device.text, line: line, once: once || !watch, json: output.json)
    try await following.run { name, line in
      try await FollowedValues.open(name, line, isToldOf: watch && poll == nil)
    } follow: { followed in
      try shown.show(followed.values, of: followed.document, isComplete: !watch)
      if let poll {
        while true {
          try await pause(poll)
          shown.showChanges(try await followed.again())
        }
      }
      if watch { try await follow(followed, shown) }
    }
  }

  /// Shows what the accessory tells of its own accord.
  private func follow(_ followed: FollowedValues, _ shown: ShownValues) async throws {
    switch followed.source {
    case .open(_, let news):
      for try await case .values(let values) in news { shown.showChanges(values.map(\.bounded)) }
      throw CancellationError()
    case .held(_, let events):
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
  }

  /// Waits until it is time to ask again; throws when the user has seen enough.
  private func pause(_ poll: TimeArgument) async throws {
    await IOThread.shared.sleep(for: poll.duration)
    try Task.checkCancellation()
  }
}
