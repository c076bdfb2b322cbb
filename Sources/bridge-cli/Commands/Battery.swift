// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import ArgumentParser

struct Battery: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows an accessory's battery.",
    discussion: """
      EXAMPLES
        bridge-cli battery
        bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent
        bridge-cli battery SIM0001 --watch
      """)

  @OptionGroup var device: DeviceArgument
  @Flag(help: "Go on: print again whenever the accessory says that something changed.")
  var watch = false
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    if watch { Interruption.endWithOutput() }
    if let held = try await HeldDevice.find(device.text, line) { return try await run(held) }
    try await Attachment.with(device.text, line) { attachment in
      guard let framed = attachment.accessory as? FramedAccessory else { return try await run(attachment) }
      let (reading, events) = try await framed.batteryAndEvents()
      show(reading, attachment)
      guard watch else { return }
      for try await event in events {
        if case .battery(let reading) = event { show(reading, attachment) }
      }
      throw CancellationError()
    }
  }

  /// The same of an accessory of any kind.
  private func run(_ attachment: Attachment) async throws {
    let news = attachment.accessory.news()
    show(try await attachment.accessory.battery(), attachment)
    guard watch else { return }
    for try await event in news {
      if case .battery(let reading) = event { show(reading, attachment) }
    }
    throw CancellationError()
  }

  /// The same through the service that holds it.
  private func run(_ held: HeldDevice) async throws {
    let events = watch ? try await held.events() : nil
    let reply = try await held.battery()
    held.noteAge(reply.age_ms)
    show(BatteryReading(reply.battery), DeviceDocument(reply.device), age: reply.age_ms)
    guard let events else { return }
    do {
      for try await event in events {
        if event.event == .disconnected { throw held.error(event.problem) }
        guard event.event == .battery, let battery = event.battery, let device = event.device else { continue }
        show(BatteryReading(battery), DeviceDocument(device))
      }
    } catch let error as ControlError {
      throw held.failure(error)
    }
    try Task.checkCancellation()
    throw AccessoryError(.disconnected, "the service at \(held.place) has ended, and told no more of \(held.name)")
  }

  private func show(_ reading: BatteryReading, _ attachment: Attachment) {
    show(reading, DeviceDocument(attachment.device))
  }

  private func show(_ reading: BatteryReading, _ device: DeviceDocument, age: Int? = nil) {
    if output.json {
      Output.json(BatteryDocument(device: device, battery: .init(reading), age_ms: age))
    } else {
      Output.line(BatteryView.line(reading))
    }
  }
}
