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
  @Option(help: .rare("path", "With --service: the path of its socket.")) var socket: String?

  func validate() throws {
    if socket != nil, !service { throw ValidationError("--socket needs --service") }
    if service, device.text != nil || passive || waiting.wait != nil || line.saysSomething {
      throw ValidationError("--service shows the service, not an accessory: leave everything else out")
    }
  }

  func run() async throws {
    if service { return try await ShownService(socket: socket, json: output.json).show() }
    if passive { return try await showWithoutOpening() }
    let found = try await Door.find(device.text, line)
    let info = try await found.info()
    if let holder = info.held?.holder { Output.note("the accessory is used by \(SafeText.escape(holder))") }
    show(
      DeviceDocument(info.device, held: info.held),
      DeviceView.facts(info.device, driver: info.held.map(\.driver) ?? found.driverName)
        + (info.held.map(HeldView.facts) ?? []),
      info.line, info.details, info.identity)
    if let reason = info.withoutDriver { Output.note(SafeText.escape(reason.message, limit: 1_000)) }
  }

  private func show(
    _ device: DeviceDocument, _ rows: [(String, String)], _ line: Bridge.Line?, _ details: ProtocolDetails?,
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
          "\(SafeText.escape(details.name)), payloads up to \(details.largestPayload) bytes, "
            + "window \(details.window)"
        )
      ]
      if let count = details.unreadableFields {
        rows.append(("Unreadable", Amount.of(Int(clamping: count), "field")))
      } else {
        rows.append(
          ("Boot id", details.bootID.map { Hexadecimal.string($0) } ?? "- (the accessory doesn't support HELLO)"))
      }
    }
    Table.facts(rows + (identity.map(StatusView.facts) ?? []), columns: Output.columns).forEach(Output.line)
  }

  private func showWithoutOpening() async throws {
    // What the system knows is shown, whether or not a service has it open.
    if line.wait != nil { _ = try await Door.find(device.text, line) }
    let found = try await Door.finder(line).own(DeviceName(device.text))
    let device = found.device
    let access = await PortAccess.look(at: [device]).first
    if output.json {
      return Output.json(InfoDocument(DeviceDocument(device, access: access)))
    }
    Table.facts(DeviceView.facts(device, driver: found.driverName, access), columns: Output.columns).forEach(
      Output.line)
  }
}
