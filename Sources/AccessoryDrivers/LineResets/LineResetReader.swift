// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO

/// Reads the resets of a board by DTR and RTS from a YAML text, and reports all mistakes in it.
///
///     - name: boot loader
///       when: {dtr: off, rts: on}    # the lines before the change, as clients have set them
///       begins: {dtr: on}            # the change that begins the client's sequence
///       steps:                       # the script that runs instead
///         - {dtr: off, rts: on}
///         - wait: 100ms
///         - {dtr: on, rts: off}
///       until: {dtr: off, rts: off}  # the lines at the end of the client's sequence
public struct LineResetReader: ValueReader {
  /// The most resets in a text.
  public static let resetLimit = 8

  package let file: String
  package var problems: [ProfileProblem] = []
  package static var places: [KnownKeys.Place] {
    [("a reset", resetKeys), ("a step", stepKeys), ("when, begins and until", lineKeys)]
  }

  private static let resetKeys = ["name", "when", "begins", "steps", "until"]
  private static let stepKeys = ["dtr", "rts", "wait"]
  private static let lineKeys = ["dtr", "rts"]

  init(file: String) { self.file = file }

  /// Reads a text of up to 64 KiB. `file` is its name in messages. Throws up to 20 mistakes at once.
  public static func read(_ bytes: [UInt8], file: String) throws(ProfileProblems) -> [LineReset] {
    var reader = LineResetReader(file: file)
    return try reader.read(yaml: bytes) { $0.resets($1) }
  }

  /// Reads a file. Throws the mistakes in it, or the reason why it can't be read. Blocks, so call it on a `SetupQueue`.
  public static func read(path: String) throws(ProfileProblems) -> [LineReset] {
    try read(try SettingsFile.contents(of: path), file: path)
  }

  mutating func resets(_ node: YAMLNode) -> [LineReset] {
    (list(node, "resets", limit: Self.resetLimit) ?? []).compactMap { reset($0) }
  }

  private mutating func reset(_ node: YAMLNode) -> LineReset? {
    guard let fields = fields(node, "a reset", Self.resetKeys) else { return nil }
    let name = fields["name"].flatMap { text($0, "a name", limit: 64) } ?? "reset"
    let before = fields["when"].flatMap { lines($0, "when") }
    let end = fields["until"].flatMap { lines($0, "until") }
    guard let begins = fields["begins"] else {
      report(node.mark, "begins is missing: which change begins it, for example begins: {dtr: on}")
      return nil
    }
    guard let steps = fields["steps"] else {
      report(
        node.mark, "steps are missing: what is done with DTR and RTS, for example steps: [{dtr: off}, {wait: 100ms}]")
      return nil
    }
    let script = script(steps)
    guard let trigger = lines(begins, "begins") else { return nil }
    guard trigger.raised.isEmpty != trigger.lowered.isEmpty,
      [.dtr, .rts].contains(trigger.raised.union(trigger.lowered))
    else {
      report(begins.mark, "begins is the change of one line: {dtr: on}, {dtr: off}, {rts: on} or {rts: off}")
      return nil
    }
    guard let script else { return nil }
    return LineReset(
      name, raised: before?.raised ?? [], lowered: before?.lowered ?? [],
      trigger: trigger.raised.union(trigger.lowered), isTriggerRaised: !trigger.raised.isEmpty, script: script,
      endRaised: end?.raised ?? [], endLowered: end?.lowered ?? [])
  }

  private mutating func script(_ node: YAMLNode) -> LineScript? {
    guard let elements = list(node, "steps", limit: LineScript.mostSteps) else { return nil }
    let count = problems.count
    let steps = elements.compactMap { step($0) }
    guard problems.count == count else { return nil }
    do throws(AccessoryError) {
      return try LineScript(steps)
    } catch {
      report(node.mark, error.message)
      return nil
    }
  }

  private mutating func step(_ node: YAMLNode) -> LineScript.Step? {
    guard let fields = fields(node, "a step", Self.stepKeys) else { return nil }
    guard let wait = fields["wait"] else {
      return lines(node, "a step").map { .set(raising: $0.raised, lowering: $0.lowered) }
    }
    guard fields.count == 1 else {
      report(wait.mark, "wait is a step of its own: write it on a line that begins with -")
      return nil
    }
    return time(wait, "wait", .zero...LineScript.longestTime).map { .wait($0) }
  }

  /// Reads the lines that are raised and lowered: `{dtr: on, rts: off}`.
  private mutating func lines(_ node: YAMLNode, _ what: String) -> (raised: ModemLines, lowered: ModemLines)? {
    guard let fields = fields(node, what, Self.lineKeys) else { return nil }
    guard !fields.isEmpty else {
      report(node.mark, "\(what) names dtr, rts or both: {dtr: on, rts: off}")
      return nil
    }
    var (raised, lowered): (ModemLines, ModemLines) = ([], [])
    for (key, line) in [("dtr", ModemLines.dtr), ("rts", .rts)] {
      guard let node = fields[key] else { continue }
      switch word(node, key, among: ["on", "off"]) {
      case "on": raised.insert(line)
      case "off": lowered.insert(line)
      default: return nil
      }
    }
    return (raised, lowered)
  }
}
