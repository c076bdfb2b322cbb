// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct Info: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows all that is known of an accessory and its line.",
    discussion: """
      EXAMPLES
        bridge-cli info
        bridge-cli info /dev/ttyACM0 --baud 57600 --json
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await Attachment.with(device.text, line) { attachment in
      let facts = try await attachment.transport.control?.facts()
      let identity = try await attachment.accessory.identify()
      let exchange = attachment.accessory.link.exchange
      let bootID = exchange.hello.map { Hex.string(withUnsafeBytes(of: $0.bootID.bigEndian) { Array($0) }) }
      let window = Int(exchange.hello?.window ?? 1)
      let device = attachment.device
      if output.json {
        return Output.json(
          InfoDocument(
            device: DeviceDocument(device), line: OrNull(facts.map(LineDocument.init)),
            protocol: .init(
              boot_id: OrNull(bootID), largest_payload_bytes: exchange.largestPayload, window: window),
            identity: IdentityDocument(identity)))
      }
      Table.facts(
        [
          ("Path", SafeText.escape(device.path)),
          ("Link", device.link.map { SafeText.escape($0, limit: 200) } ?? "-"),
          ("Source", device.source.rawValue),
          ("Driver", device.driver.map { SafeText.escape($0) } ?? "framed (assumed)"),
        ] + (facts.map(LineView.facts) ?? []) + [
          ("Protocol", "AF1, payloads up to \(exchange.largestPayload) bytes, window \(window)"),
          ("Boot id", bootID ?? "- (the accessory doesn't know HELLO)"),
        ] + identity.facts
      ).forEach(Output.line)
    }
  }
}
