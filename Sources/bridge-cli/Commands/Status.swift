// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import ArgumentParser

struct Status: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what an accessory is doing, and who it is.",
    discussion: """
      EXAMPLES
        bridge-cli status
        bridge-cli status ./acc --json | jq -r .status.state
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await Attachment.with(device.text, line) { attachment in
      let status = try await attachment.accessory.status()
      let identity = try await attachment.accessory.identify()
      if output.json {
        return Output.json(
          StatusDocument(
            device: DeviceDocument(attachment.device), status: .init(status), identity: IdentityDocument(identity)))
      }
      Table.facts(
        [
          ("State", status.stateName),
          ("Fault", status.faultCode.map(String.init) ?? "none"),
          ("Progress", status.progress.map { "\($0) %" } ?? "-"),
        ] + identity.facts
      ).forEach(Output.line)
    }
  }
}

extension AccessoryStatus {
  /// The state's name, in the field's usual form.
  var stateName: String {
    switch state {
    case .idle: "idle"
    case .busy: "busy"
    case .paused: "paused"
    case .fault: "fault"
    case .notInitialized: "not_initialized"
    }
  }
}

extension AccessoryIdentity {
  /// The strings, made harmless, with their names.
  var facts: [(String, String)] {
    [
      ("Manufacturer", manufacturer), ("Name", name), ("Model", model), ("Serial", serialNumber),
      ("Firmware", firmwareRevision), ("Hardware", hardwareRevision),
    ].map { ($0, $1.isEmpty ? "-" : SafeText.escape($1)) }
  }
}
