// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

struct Battery: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "battery",
    abstract: "Shows the battery of an accessory of any gateway.",
    discussion: """
      It is the last reading that the gateway has published. When the gateway or the accessory can't be reached, the \
      reading is shown as stale.

      EXAMPLES
        bridge-fleet battery SIM0001 --broker mqtt://broker.example
        bridge-fleet battery attic:SIM0001 --json | jq .battery.percent
        bridge-fleet battery --watch
      """)

  @OptionGroup var accessory: FleetAccessoryArgument
  @Flag(help: "Keep running: print again at each change.")
  var watch = false
  @OptionGroup var fleet: FleetOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    try await FleetSession.with(fleet, follows: watch) { session in
      var last = try await session.find(accessory.text, [.values])
      try show(last)
      guard watch else { return }
      try await session.follow { _, fleet in
        guard let now = fleet.accessory(last.key) else { return }
        let isSame =
          now.state.battery == last.state.battery && now.place == last.place
          && Self.supply(of: now)?.map(\.value) == Self.supply(of: last)?.map(\.value)
        last = now
        if !isSame, now.state.battery != nil { try show(now) }
      }
    }
  }

  /// What a UPS says of its supply and its load.
  private static func supply(of one: FleetAccessory, now: Double = 0) -> ReadValues? {
    one.values?.values(now: now).ofSupply
  }

  private func show(_ one: FleetAccessory) throws {
    let now = WallClock.seconds
    guard let read = one.state.battery(at: MonotonicTime(since1970: now))?.map(\.withTimeToEmpty) else {
      throw one.missing("battery")
    }
    let supply = Self.supply(of: one, now: now)
    if output.json {
      return Output.json(one.document(ReadingDocument(one.device, read, supply: supply, at: now)))
    }
    BatteryReport.show(read, supply: supply, facts: one.facts)
  }
}
