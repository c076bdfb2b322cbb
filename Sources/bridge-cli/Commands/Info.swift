// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService

struct Info: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows all that is known of an accessory and its line.",
    discussion: """
      EXAMPLES
        bridge-cli info
        bridge-cli info /dev/ttyACM0 --baud 57600 --json
        bridge-cli info usb:2341:0043 --passive
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  @Flag(help: "Don't open it: only what the system knows.")
  var passive = false

  func run() async throws {
    if passive { return try await showWithoutOpening() }
    if let held = try await HeldDevice.find(device.text, line) { return show(try await held.info()) }
    try await Attachment.with(device.text, line) { attachment in
      let facts = try await (attachment.transport as? DescriptorTransport)?.control?.facts()
      let identity = try await attachment.accessory.identify()
      show(
        DeviceDocument(attachment.device), DeviceView.facts(attachment.device, nil), facts.map { Bridge.Line($0) },
        (attachment.accessory as? FramedAccessory).map { Bridge.ProtocolDetails($0.link.exchange) }, identity)
    }
  }

  /// What the service tells of a device that it holds.
  private func show(_ reply: Bridge.GetInfo.Reply) {
    let device = reply.accessory.device
    if let holder = reply.accessory.holder { Output.note("\(SafeText.escape(holder)) has the accessory") }
    show(
      DeviceDocument(device), DeviceView.facts(Device(device), nil), reply.line, reply.protocol,
      reply.identity.map(AccessoryIdentity.init))
  }

  private func show(
    _ device: DeviceDocument, _ rows: [(String, String)], _ line: Bridge.Line?, _ details: Bridge.ProtocolDetails?,
    _ identity: AccessoryIdentity?
  ) {
    if output.json {
      return Output.json(
        InfoDocument(
          device: device, line: OrNull(line.map(LineDocument.init)),
          protocol: OrNull(details.map(InfoDocument.ProtocolDetails.init)),
          identity: OrNull(identity.map(IdentityDocument.init))))
    }
    var rows = rows + (line.map(LineView.facts) ?? [])
    if let details {
      rows += [
        (
          "Protocol",
          "\(SafeText.escape(details.name)), payloads up to \(details.largest_payload_bytes) bytes, "
            + "window \(details.window)"
        ),
        ("Boot id", details.boot_id.map { SafeText.escape($0) } ?? "- (the accessory doesn't know HELLO)"),
      ]
    }
    Table.facts(rows + (identity?.facts ?? [])).forEach(Output.line)
  }

  private func showWithoutOpening() async throws {
    let device = try await Attachment.find(device.text, line).device
    let access = await PortAccess.look(at: [device]).first
    if output.json {
      return Output.json(
        InfoDocument(
          device: DeviceDocument(device, access: access), line: OrNull(nil), protocol: OrNull(nil),
          identity: OrNull(nil)))
    }
    Table.facts(DeviceView.facts(device, access)).forEach(Output.line)
  }
}
