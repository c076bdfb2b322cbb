// SPDX-License-Identifier: Apache-2.0

import Testing

/// A loss since version 0.1 that was decided on, because what that version did was a mistake. A file of what it wrote is
/// never changed: the difference is named here.
struct IntendedDifference: Sendable {
  /// The file, below Tests/Data/Compatibility/0.1.
  let file: String
  /// What was found begins so.
  let loss: String
  /// What was wrong with it, and what became of it.
  let reason: String

  static let all: [IntendedDifference] = [
    IntendedDifference(
      file: "commands/errors.jsonl", loss: #"["status","/dev/null","--json"]: status 69 is now 78"#,
      reason: ofUnknownProtocol),
    IntendedDifference(
      file: "commands/errors.jsonl",
      loss: #"["status","/dev/null","--json"]: there is no error unsupported: there is "#
        + ##"["{\"document\":\"error\",\"error\":{\"errno\":null,\"exit_status\":78,\"kind\":\"misconfigured\","##,
      reason: ofUnknownProtocol),
    IntendedDifference(
      file: "commands/errors.jsonl", loss: #"["trace","SIM0001","--record","text","--json"]: status 78 is now 73"#,
      reason: ofAFileThatIsThere),
    IntendedDifference(
      file: "commands/errors.jsonl",
      loss: #"["trace","SIM0001","--record","text","--json"]: error.exit_status was 78 and is 73"#,
      reason: ofAFileThatIsThere),
    IntendedDifference(
      file: "commands/errors.jsonl", loss: #"["detach","SIM0001","--json"]: status 66 is now 69"#,
      reason: ofNoService),
    IntendedDifference(
      file: "commands/errors.jsonl",
      loss: #"["detach","SIM0001","--json"]: there is no error not_found: there is "#
        + ##"["{\"document\":\"error\",\"error\":{\"errno\":null,\"exit_status\":69,\"kind\":\"disconnected\","##,
      reason: ofNoService),
    IntendedDifference(
      file: "commands/held.jsonl", loss: #"["doctor","SIM0001","--json"]: status 69 is now 0"#, reason: ofTheService),
    IntendedDifference(
      file: "commands/held.jsonl",
      loss: #"["doctor","SIM0001","--json"]: ports[0].findings[2].kind was a text and is null"#, reason: ofTheService),
    IntendedDifference(
      file: "commands/held.jsonl",
      loss: #"["doctor","SIM0001","--json"]: ports[0].findings[2].severity was "problem" and is "ok""#,
      reason: ofTheService),
    IntendedDifference(
      file: "commands/hm1x.jsonl", loss: #"["status","./car","--json"]: status.state was a text and is null"#,
      reason: ofUnknownStates),
    IntendedDifference(
      file: "commands/bluno.jsonl", loss: #"["status","./bluno","--json"]: status.state was a text and is null"#,
      reason: ofUnknownStates),
    IntendedDifference(
      file: "service/all.jsonl",
      loss: #"{"method":"accessorybridge.Bridge.Status","parameters":{"device":"CAR0001"}}: "#
        + "parameters.status.state is gone",
      reason: ofUnknownStates),
    IntendedDifference(
      file: "accessorybridge.Bridge.varlink", loss: "Status, its answer: status state was", reason: ofUnknownStates),
    IntendedDifference(
      file: "accessorybridge.Bridge.varlink", loss: "Subscribe, its answer: status state was", reason: ofUnknownStates),
  ]

  private static let ofUnknownStates =
    "An accessory that says nothing of its state isn't in the state not_initialized: its state is unknown, which is null."

  private static let ofTheService = "That the service has the device is no problem: commands go through the service."

  private static let ofNoService =
    "No service was running. That isn't the same as a device that isn't there: EX_UNAVAILABLE says that something doesn't run."

  private static let ofAFileThatIsThere = "That is EX_CANTCREAT; nothing is wrong with a configuration."

  private static let ofUnknownProtocol = """
    Version 0.1 took a device of which nobody knows the protocol for one that speaks AF1, and opened it to greet it; the \
    error was that of opening /dev/null. Now such a device isn't opened, and nothing is sent to it: the error says that a \
    driver or a profile must be named.
    """

  /// Tells of losses, but for those that were intended; and of entries above that nothing needs any more.
  static func report(_ losses: [String], in file: String, _ location: SourceLocation = #_sourceLocation) {
    let intended = all.filter { $0.file == file }
    let others = losses.filter { loss in !intended.contains { loss.hasPrefix($0.loss) } }
    #expect(others.isEmpty, "\(file):\n\(others.joined(separator: "\n"))", sourceLocation: location)
    let idle = intended.filter { entry in !losses.contains { $0.hasPrefix(entry.loss) } }.map(\.loss)
    #expect(idle.isEmpty, "IntendedDifferences.swift: nothing in \(file) differs so", sourceLocation: location)
  }
}
