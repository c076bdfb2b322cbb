// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import ArgumentParser
import Glibc

struct Watch: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows accessories as they come and go.",
    discussion: """
      Those that are there already are shown first. Ends with Ctrl-C.

      EXAMPLES
        bridge-cli watch
        bridge-cli watch --json | jq -r '.event + " " + .device.id'
      """)

  @OptionGroup var output: OutputOptions

  func run() async throws {
    for await event in try await SimulatorSource().events() {
      switch event {
      case .added(let device): show("connected", device)
      case .changed(let device, _): show("changed", device)
      case .removed(let device): show("disconnected", device)
      }
    }
    throw CancellationError()
  }

  private func show(_ event: String, _ device: Device) {
    if output.json {
      return Output.json(WatchDocument(event: event, time: WallClock.seconds, device: DeviceDocument(device)))
    }
    let style = Style.standardOutput
    let padded = event + String(repeating: " ", count: "disconnected".count - event.count)
    let name = device.name.map { "  " + SafeText.escape($0, limit: 32) } ?? ""
    let id = SafeText.escape(device.id, limit: 32)
    Output.line(
      "\(style.dim(WallClock.timeOfDay))  \(event == "connected" ? style.green(padded) : style.red(padded))  "
        + "\(style.bold(id))\(name)  \(SafeText.escape(device.path))")
  }
}

/// The time of day.
enum WallClock {
  /// Seconds since 1970, UTC.
  static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec / 1_000_000) / 1_000
  }

  /// "14:03:59" where we are.
  static var timeOfDay: String {
    var now = time(nil)
    var parts = tm()
    localtime_r(&now, &parts)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
  }
}
