// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
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
      An unknown value is shown as -. A value that was read earlier is shown with its age.

      EXAMPLES
        bridge-cli values
        bridge-cli values EV3 volume --plain
        bridge-cli values EV3 port_4 --watch --poll 1s
        bridge-cli values EV3 --json | jq '.values[] | select(.name == "port_4").number'
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: "Show only these values; needs the device, too.")
  var names: [String] = []
  @Flag(help: "Print only the values, without names and units.")
  var plain = false
  @Flag(help: "Keep running: print changes, and wait after an unplug.")
  var watch = false
  @Flag(help: "With --watch: end when the accessory is unplugged.")
  var once = false
  @Option(help: .value("time", "With --watch: ask at this interval."), transform: TimeArgument.read)
  var poll: TimeArgument?
  @OptionGroup var reading: ReadingOptions
  @OptionGroup var past: HistoryOptions
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if once, !watch { throw ValidationError("--once needs --watch") }
    if plain, names.isEmpty { throw ValidationError("--plain needs the names of the values, after the device") }
    if plain, output.json { throw ValidationError("--plain and --json can't be used together") }
    let others = [("--watch", watch), ("--wait", waiting.wait != nil), ("--plain", plain)]
    try past.check(json: output.json, others + [("--fresh", reading.fresh)])
    guard let poll else { return }
    if !watch { throw ValidationError("--poll needs --watch") }
    if poll.duration < .milliseconds(1) { throw ValidationError("--poll must be at least 1ms") }
  }

  func run() async throws {
    if let history = past.shown(device.text, names.isEmpty ? .values : .named(names), json: output.json) {
      return try await history.show()
    }
    if watch { Interruption.endWithOutput() }
    let shown = ShownValues(json: output.json, names: names, plain: plain)
    let following = Following(name: device.text, line: line, once: once || !watch, json: output.json)
    try await following.run { found in
      try await FollowedReading.open(found, needing: .values) { opened in
        guard watch, poll == nil else { return (try await opened.values(reading.wish), nil) }
        let (read, events) = try await opened.valuesAndEvents(reading.wish)
        return (read, events)
      }
    } follow: { followed in
      func document(_ read: Read<ReadValues>) -> ReadingDocument<ReadValues> {
        ReadingDocument(followed.opened.document, read)
      }
      followed.read.noteAge(followed.opened.service)
      try shown.show(followed.read, isComplete: !watch, document: document)
      if let poll {
        while true {
          try await pause(poll)
          shown.showChanges(try await followed.opened.values(reading.wish).map { $0.map(\.value) }, document: document)
        }
      }
      guard let events = followed.events else { return }
      for try await event in events {
        guard case .news(.values(let values)) = event.kind else { continue }
        shown.showChanges(followed.read.map { _ in values.map(\.bounded) }, document: document)
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
