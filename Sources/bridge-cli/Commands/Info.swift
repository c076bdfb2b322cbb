// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput

struct Info: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows everything that is known about an accessory and its line, or about the service.",
    discussion: """
      EXAMPLES
        bridge-cli info
        bridge-cli info /dev/ttyACM0 --baud 57600 --json
        bridge-cli info usb:2341:0043 --passive
        bridge-cli info --service --json | jq '.devices[].service.state'
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Don't open it: show only what the system knows.")
  var passive = false
  @Flag(help: "Show the service instead: its version, socket, clients and accessories.")
  var service = false
  @Option(
    help: ArgumentHelp("With --service: the path of its socket.", valueName: "path", visibility: HelpTopic.visibility))
  var socket: String?

  func validate() throws {
    if socket != nil, !service { throw ValidationError("--socket needs --service") }
    if service, device.text != nil || passive || waiting.wait != nil || line.saysSomething {
      throw ValidationError("--service shows the service, not an accessory: leave everything else out")
    }
  }

  func run() async throws {
    if service { return try await ShownService(socket: socket, json: output.json).show() }
    if passive { return try await showWithoutOpening() }
    if let held = try await HeldDevice.find(device.text, line) { return show(try await held.calls.info()) }
    let target = try await OpenedAccessory.find(device.text, line)
    guard target.driver != nil else { return try await showAsBytes(target) }
    try await OpenedAccessory.with(target) { opened in
      let facts = try await opened.session.line?.status()
      let identity = try await OpenedAccessory.answer(of: opened.accessory.label) {
        try await opened.accessory.identify()
      }
      show(
        DeviceDocument(opened.device), DeviceView.facts(opened.device, driver: opened.driver.name),
        facts.map { Bridge.Line($0) },
        opened.accessory.protocolDetails.map(Bridge.ProtocolDetails.init), identity)
    }
  }

  /// Shows a device and its line where no driver is known for it.
  private func showAsBytes(_ target: Target) async throws {
    let session = try await target.unguardedSession()
    let facts: Result<LineStatus?, any Error>
    do {
      facts = .success(try await session.line?.status())
    } catch {
      facts = .failure(error)
    }
    await session.close()
    let line = try facts.get().map { Bridge.Line($0) }
    show(DeviceDocument(target.device), DeviceView.facts(target.device, driver: nil), line, nil, nil)
    Output.note(SafeText.escape(target.opener.withoutDriver.message, limit: 1_000))
  }

  /// Shows what the service reports of a device that it holds.
  private func show(_ reply: Bridge.GetInfo.Reply) {
    let device = reply.accessory.device
    if let holder = reply.accessory.holder {
      Output.note("the accessory is used by \(SafeText.escape(holder))")
    }
    show(
      DeviceDocument(device, held: reply.accessory),
      DeviceView.facts(Device(device), driver: reply.accessory.driver) + HeldView.facts(reply.accessory),
      reply.line, reply.protocol, reply.identity?.reading)
  }

  private func show(
    _ device: DeviceDocument, _ rows: [(String, String)], _ line: Bridge.Line?, _ details: Bridge.ProtocolDetails?,
    _ identity: AccessoryIdentity?
  ) {
    if output.json {
      return Output.json(InfoDocument(device, line: line, protocol: details, identity: identity))
    }
    var rows = rows + (line.map(LineView.facts) ?? [])
    if let details {
      rows += [
        (
          "Protocol",
          "\(SafeText.escape(details.name)), payloads up to \(details.largest_payload_bytes) bytes, "
            + "window \(details.window)"
        )
      ]
      if let count = details.unreadable_fields {
        rows.append(("Unreadable", Amount.of(count, "field")))
      } else {
        rows.append(
          ("Boot id", details.boot_id.map { SafeText.escape($0) } ?? "- (the accessory doesn't support HELLO)"))
      }
    }
    Table.facts(rows + (identity.map(StatusView.facts) ?? []), columns: Output.columns).forEach(Output.line)
  }

  private func showWithoutOpening() async throws {
    if let limit = line.wait { _ = try await AccessoryWait.find(device.text, line, asLine: false, limit: limit) }
    let target = try await OpenedAccessory.find(device.text, line)
    let device = target.device
    let access = await PortAccess.look(at: [device]).first
    if output.json {
      return Output.json(InfoDocument(DeviceDocument(device, access: access)))
    }
    Table.facts(DeviceView.facts(device, driver: target.driver?.name, access), columns: Output.columns).forEach(
      Output.line)
  }
}
