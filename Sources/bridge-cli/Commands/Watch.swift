// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
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
      Also shows the alarms of the service (bridge-cli serve); --alarm adds rules. If no service is running, watch --alarm opens the \
      accessories itself. The program of --exec gets the event in ACCESSORY_EVENT, ACCESSORY_ID and other variables \
      (Documentation/service.md).

      EXAMPLES
        bridge-cli watch
        bridge-cli watch --exec ./on-event.sh
        bridge-cli watch --alarm 'battery < 20 %' --alarm 'silent for 5 min'
        bridge-cli watch --json | jq -r '.event + " " + .device.id'
      """)

  @Flag(help: "Show everything on USB except hubs, like list --all.")
  var all = false
  @Option(
    help: .value("program", "Run this program at each connect, disconnect, alarm and low battery."), completion: .file()
  )
  var exec: String?
  @OptionGroup var alarms: AlarmOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if exec == "" { throw ValidationError("--exec must be the name of a program") }
  }

  func run() async throws {
    Interruption.endWithOutput()
    let command = exec.map { EventCommand([$0]) }
    let (rules, json) = (alarms.rules, output.json)
    let watching = Task { await Self.watchServices(rules, json: json, command) }
    let result: Result<Void, any Error>
    do { result = .success(try await watch(command)) } catch { result = .failure(error) }
    watching.cancel()
    // Accessories that were opened here are closed.
    if !rules.isEmpty { await watching.value }
    try result.get()
  }

  /// Shows the alarms of services that run or start later, and runs the command at low batteries. With rules and without a
  /// service, the accessories are opened here.
  private static func watchServices(_ rules: [AlarmRule], json: Bool, _ command: EventCommand?) async {
    let body: AlarmWatcher.Body = { device, alarm, state in
      AlarmOutput.show(device, alarm, state, json: json)
      await command?.run(.init(event: "alarm", device: device, alarm: (alarm, state)))
    }
    let batteries = command.map { command in
      LowBatteries { device, battery in
        await command.run(.init(event: "battery_low", device: device, battery: battery))
      }
    }
    let places = ServicePlace.all()
    if !rules.isEmpty, let sources = try? KnownDevices.sources(), await !ServiceAlarms.isServiceThere() {
      async let isOver: Void = follow(places, nil, batteries)
      await ServiceAlarms.hold(rules, sources, body)
      await isOver
    } else {
      let alarms = ServiceAlarms(rules, at: places) { device, alarm, state, _ in await body(device, alarm, state) }
      await follow(places, alarms, batteries)
    }
  }

  /// Follows the services at these sockets by one mirror, until the task is cancelled.
  private static func follow(_ places: [String], _ alarms: ServiceAlarms?, _ batteries: LowBatteries?) async {
    var interests = alarms?.interests ?? []
    if batteries != nil { interests.formUnion(LowBatteries.interests) }
    guard !interests.isEmpty else { return }
    var hooks = ServiceMirror.Hooks()
    hooks.happened = { event, place, _ in
      await alarms?.take(event, of: place)
      await batteries?.take(event, of: place)
    }
    hooks.trouble = { error in
      // Waits for an absent service without a message.
      guard error.kind == .busy else { return }
      Output.note("events of a service are missing: \(SafeText.escape(error.message, limit: 500))")
    }
    await ServiceMirror(interests).run(places.map { ServiceMirror.Service($0) }, hooks)
    await alarms?.end()
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
    let device = NamedAccessory.marked([device])[0]
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
    Output.wrapped(DeviceEventView.line(event, device), indent: 10)
  }
}
