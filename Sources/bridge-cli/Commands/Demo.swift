// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput
import Console
import Glibc

struct Demo: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Shows the main features on a simulated accessory, in a few seconds.",
    discussion: """
      EXAMPLES
        bridge-cli demo
      """)

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let stage = Stage(json: output.json)
    // Use a separate folder. Otherwise a service could attach the accessory before the demo opens it.
    let folder = try UserDirectory.path() + "/demo-\(getpid())"
    try UserDirectory.make(folder)
    defer { rmdir(folder) }
    guard let command = try Simulate.parseAsRoot(Self.words) as? any SimulatingCommand else { return }
    let simulator = try await command.simulator(announcedIn: folder)
    do {
      try await play(stage, simulator, folder)
    } catch {
      await simulator.stop()
      // An interruption ends the demo with the status of an interruption, whatever error it caused.
      try AccessoryWait.checkInterruption()
      throw error
    }
    await simulator.stop()
    stage.say("")
    stage.say(
      "End of the demo. Try it yourself: bridge-cli simulate framed, and bridge-cli battery in another terminal.")
  }

  /// A random serial number, so that the demo ignores other accessories of this machine.
  private static let serial = "DEMO-\(UInt16.random(in: 1_000...9_999))"

  /// What a person would type behind `simulate`.
  private static let words = [
    "framed", "--name", "Demo gadget", "--serial", serial, "--percent", "24", "--drain", "2.5", "--delay", "60ms",
    "--seed", "1",
  ]

  private func play(_ stage: Stage, _ simulator: any Simulator, _ folder: String) async throws {
    var arrivals = try await SimulatorSource(directory: folder).events().makeAsyncIterator()

    try stage.scene("An accessory is plugged in")
    try await simulator.plugIn()
    let device = try await next(.connected, from: &arrivals)
    stage.tell("connected", device, "connected     \(device.id)  \(device.name ?? "")  \(device.address)")
    let accessory = try await open(device)
    try await converse(stage, device, accessory)
    try await pullTheCable(stage, device, accessory, simulator)
    await accessory.close()
    let gone = try await next(.disconnected, from: &arrivals)
    stage.tell("disconnected", gone, "disconnected  \(gone.id)")

    try stage.scene("The accessory is plugged in again")
    try await simulator.plugIn()
    let again = try await next(.connected, from: &arrivals)
    stage.tell("connected", again, "connected     \(again.id)  \(again.name ?? "")  \(again.address)")
    let sameAccessory = try await open(again)
    let reading = try await sameAccessory.battery()
    stage.tell("battery", again, "battery       \(BatteryView.line(reading))", battery: reading)
    await sameAccessory.close()
  }

  private func converse(_ stage: Stage, _ device: Device, _ accessory: any Accessory) async throws {
    try stage.scene("Identity, status and battery")
    let identity = try await accessory.identify()
    stage.tell(
      "identity", device,
      "identity      \(identity.manufacturer), \(identity.name), firmware \(identity.firmwareRevision)",
      identity: identity)
    let status = try await accessory.status()
    stage.tell("status", device, "status        \(status.state?.word ?? "unknown")", status: status)
    let (read, news) = try await accessory.batteryAndNews()
    stage.tell("battery", device, "battery       \(BatteryView.line(read.value))", battery: read.value)

    try stage.scene("It reports battery changes by itself")
    var changes = 0
    for try await event in news {
      guard case .battery(let reading) = event else { continue }
      stage.tell("battery", device, "event         \(BatteryView.line(reading))", battery: reading)
      changes += 1
      if changes == 5 { break }
    }
  }

  private func pullTheCable(
    _ stage: Stage, _ device: Device, _ accessory: any Accessory, _ simulator: any Simulator
  ) async throws {
    try stage.scene("The cable is pulled in the middle of a request")
    // Requests follow one another without a pause, so that one is always in flight.
    let echo = try CommandCall(
      "echo", ["payload": Hexadecimal.string(Array("are you there?".utf8))], of: try await accessory.commands())
    let request = Task { while true { _ = try await accessory.perform([echo], isAnswered: true) } }
    await IOThread.shared.sleep(for: .milliseconds(20))
    let pulled = ContinuousClock.now
    await simulator.unplug()
    do {
      try await request.value
    } catch {
      let time = (ContinuousClock.now - pulled).inNanoseconds / 1_000
      stage.tell(
        "request_failed", device, "the request   failed \(DecimalText.thousandths(Int(time))) ms later: \(error)",
        problem: error as? AccessoryError)
    }
  }

  private func open(_ device: Device) async throws -> any Accessory {
    try await DeviceOpener(device).accessory()
  }

  private enum Change {
    case connected, disconnected
  }

  private func next(_ change: Change, from events: inout AsyncStream<DeviceEvent>.AsyncIterator) async throws -> Device
  {
    while let event = await events.next(isolation: #isolation) {
      switch (change, event) {
      case (.connected, .added(let device)) where device.serialNumber == Self.serial: return device
      case (.disconnected, .removed(let device)) where device.serialNumber == Self.serial: return device
      default: continue
      }
    }
    throw CancellationError()
  }
}

/// The demo's output: lines for people, or JSON documents.
private struct Stage {
  let json: Bool

  /// Prints the title of the next scene. Throws `cancelled` when the demo was interrupted in the scene before.
  func scene(_ title: String) throws(AccessoryError) {
    try AccessoryWait.checkInterruption()
    if json { return }
    Output.line("")
    Output.line(Style.standardOutput.bold(title))
  }

  /// Prints a line for people; nothing in JSON.
  func say(_ text: String) {
    if !json { Output.line(text.isEmpty ? "" : "  " + text) }
  }

  /// Prints an event: `text` for people, or a document.
  func tell(
    _ event: String, _ device: Device, _ text: String, identity: AccessoryIdentity? = nil,
    status: AccessoryStatus? = nil, battery: BatteryReading? = nil, problem: AccessoryError? = nil
  ) {
    guard json else { return say(text) }
    Output.json(
      EventDocument(
        event, DeviceDocument(device), identity: identity, status: status, battery: battery, problem: problem))
  }
}
