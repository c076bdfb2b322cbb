// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import ArgumentParser

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
    try await Attachment.with(device.text, line) { attachment in
      let facts = try await (attachment.transport as? DescriptorTransport)?.control?.facts()
      let identity = try await attachment.accessory.identify()
      let exchange = attachment.accessory.link.exchange
      let bootID = exchange.hello.map { Hexadecimal.string(withUnsafeBytes(of: $0.bootID.bigEndian) { Array($0) }) }
      let window = Int(exchange.hello?.window ?? 1)
      let device = attachment.device
      if output.json {
        return Output.json(
          InfoDocument(
            device: DeviceDocument(device), line: OrNull(facts.map(LineDocument.init)),
            protocol: OrNull(
              .init(boot_id: OrNull(bootID), largest_payload_bytes: exchange.largestPayload, window: window)),
            identity: OrNull(IdentityDocument(identity))))
      }
      Table.facts(
        DeviceView.facts(device, nil) + (facts.map(LineView.facts) ?? []) + [
          ("Protocol", "AF1, payloads up to \(exchange.largestPayload) bytes, window \(window)"),
          ("Boot id", bootID ?? "- (the accessory doesn't know HELLO)"),
        ] + identity.facts
      ).forEach(Output.line)
    }
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
