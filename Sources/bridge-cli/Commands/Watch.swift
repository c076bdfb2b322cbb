// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput

struct Watch: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Shows accessories as they come and go.",
    discussion: """
      Connected accessories are shown first. An accessory that gets a terminal, a driver or a name later is shown as \
      changed. Ctrl-C ends it.

      With --exec a program is run at each connect and disconnect, and when a battery gets low. The last needs a \
      service (bridge-cli serve) that has the accessory open, since watch opens nothing. The program gets the facts as \
      environment variables: ACCESSORY_EVENT (connected, disconnected, battery_low), ACCESSORY_ID, _PATH, _LINK, \
      _SERIAL, _NAME, _MANUFACTURER, _MODEL, _DRIVER, _SOURCE, _USB, _BATTERY_LEVEL, _BATTERY_PERCENT, \
      _BATTERY_CHARGE, _BATTERY_MILLIVOLTS; texts of the device are cut, and control characters in them made visible. \
      No shell is used: write a script if the program needs arguments. Up to 8 run at a time; watch doesn't wait for \
      them.

      EXAMPLES
        bridge-cli watch
        bridge-cli watch --exec ./on-event.sh
        bridge-cli watch --json | jq -r '.event + " " + .device.id'
      """)

  @Flag(help: "Show everything on USB except hubs, like list --all.")
  var all = false
  @Option(
    help: ArgumentHelp(
      "Run this program at each connect and disconnect, and when a battery is low.", valueName: "program"),
    completion: .file()
  )
  var exec: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if exec == "" { throw ValidationError("--exec must be the name of a program") }
  }

  func run() async throws {
    Interruption.endWithOutput()
    guard let exec else { return try await watch(nil) }
    let command = EventCommand([exec])
    let batteries = Task {
      await LowBatteries.watch { device, battery in
        await command.run(.init(event: "battery_low", device: device, battery: battery))
      }
    }
    defer { batteries.cancel() }
    try await watch(command)
  }

  private func watch(_ command: EventCommand?) async throws {
    for await event in try await KnownDevices.source().events() {
      switch event {
      case .added(let device) where isShown(device): await tell(.connected, device, command)
      case .changed(let device, let old):
        switch (isShown(old), isShown(device)) {
        case (true, true): await show(.changed, device)
        case (false, true): await tell(.connected, device, command)
        case (true, false): await tell(.disconnected, old, command)
        case (false, false): break
        }
      case .removed(let device) where isShown(device): await tell(.disconnected, device, command)
      default: break
      }
    }
    throw CancellationError()
  }

  private func tell(_ event: DeviceEventName, _ device: Device, _ command: EventCommand?) async {
    await show(event, device)
    await command?.run(.init(event: event.rawValue, device: device))
  }

  private func isShown(_ device: Device) -> Bool { all || device.mayBeAccessory }

  private func show(_ event: DeviceEventName, _ device: Device) async {
    if output.json {
      // The permission of an unplugged device can't be looked up.
      let access = event == .disconnected ? nil : await PortAccess.look(at: [device]).first
      return Output.json(DeviceEventDocument(event, at: WallClock.seconds, DeviceDocument(device, access: access)))
    }
    Output.wrapped(DeviceEventView.line(event, Bridge.Device(device)), indent: 10)
  }
}
