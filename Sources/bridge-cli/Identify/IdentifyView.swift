// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Glibc

/// The output of `identify`: the plan, the progress and the result.
struct IdentifyView: Sendable {
  let plan: IdentificationPlan
  let json: Bool
  private let style = Style.standardError

  init(_ plan: IdentificationPlan, json: Bool) { (self.plan, self.json) = (plan, json) }

  // MARK: - The plan

  /// The plan as a table, a row for each step. `columns` is the terminal's width; nil without a terminal.
  func table(_ style: Style, columns: Int? = nil) -> [String] {
    var table = Table(
      ["STEP", plan.isOnAir ? "AT" : "RATE", "KIND", "TIMES", "SENT"], optional: [0, 3], endsInText: true, leastText: 12
    )
    for (index, step) in plan.steps.enumerated() {
      table.add([
        "\(index + 1)", Self.place(step) ?? "-", step.kinds.joined(separator: ", "),
        step.isListening ? "-" : "\(step.times)", Self.sent(step),
      ])
    }
    return table.lines(style, columns: columns)
  }

  /// The rate, or the characteristic that is written or listened to.
  private static func place(_ step: IdentificationStep) -> String? {
    step.line.map { "\($0.baudRate)" } ?? (step.isListening ? step.gatt?.notify : step.gatt?.write)?.description
  }

  private static func sent(_ step: IdentificationStep) -> String {
    let greeting = step.gatt?.greeting.map { "\(Hexadecimal.string($0.bytes)) to \($0.characteristic), then " } ?? ""
    guard !step.isListening else { return greeting + "nothing: it listens for \(Self.text(step.timeout))" }
    let frames = greeting + step.sends.map { Hexadecimal.string($0.bytes) }.joined(separator: ", then ")
    let farewell = step.farewell.isEmpty ? "" : ", and \(Hexadecimal.string(step.farewell)) if it answers"
    return frames + farewell
  }

  private static func text(_ time: Duration) -> String {
    let tenths = (time.inNanoseconds + 99_999_999) / 100_000_000
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }

  private var summary: [String] {
    var lines = ["It takes \(Self.text(plan.longest)) at most."]
    var reasons: [String] = []
    for kind in plan.untried where !reasons.contains(kind.text) { reasons.append(kind.text) }
    for reason in reasons {
      let kinds = plan.untried.filter { $0.text == reason }.map(\.name).joined(separator: ", ")
      lines.append("Not tried: \(kinds) (\(reason)).")
    }
    return lines
  }

  /// Prints the plan alone, for a dry run.
  func showDryRun(_ device: Device?) {
    if json { return Output.json(IdentifyDocument(device, plan)) }
    table(.standardOutput, columns: Output.columns).forEach(Output.line)
    summary.forEach(Output.line)
    Output.note("nothing was opened, and nothing was sent")
  }

  /// Prints the plan before it is carried out.
  func announce(_ device: Device) {
    let port = SafeText.escape(device.address.description, limit: 200)
    Output.note(
      plan.isSilent
        ? "This listens at \(port), and sends nothing:"
        : "This will be sent to \(port), in this order, until something answers as expected:")
    table(style, columns: TerminalSize.columns(of: STDERR_FILENO)).forEach(Output.note)
    summary.forEach(Output.note)
  }

  // MARK: - Progress

  /// Shows each step's progress in a line. Only on a terminal.
  func show(_ event: Identifier.Event) {
    guard style.isTerminal, !json else { return }
    switch event {
    case .began(let number): Output.prompt(line(number, "…"))
    case .ended(let number, let hasFound):
      Output.prompt("\r\u{1B}[K")
      Output.note(line(number, hasFound ? style.green("it answers") : style.dim("nothing")))
    case .skipped(let number, let reason): Output.note(line(number, style.yellow(SafeText.escape(reason, limit: 200))))
    }
  }

  private func line(_ number: Int, _ what: String) -> String {
    let step = plan.steps[number - 1]
    let rate = Self.place(step).map { " at \($0)" } ?? ""
    let doing = step.isListening ? "listening\(rate) for" : "asking\(rate) for"
    return "\(number)/\(plan.steps.count)  \(doing) \(step.kinds.joined(separator: ", ")): \(what)"
  }

  // MARK: - The result

  /// Prints the result.
  func show(
    _ outcome: IdentificationOutcome, _ device: Device, _ profile: IdentifiedProfile?, path: String?, isWritten: Bool
  ) {
    if json { return Output.json(IdentifyDocument(device, plan, outcome, profile, advice: advice(outcome, device))) }
    showFindings(outcome, device)
    if outcome.found.count > 1 {
      Output.note(
        style.yellow("\(outcome.found.count) kinds fit: choose the one for the profile with --only KIND."))
    }
    guard let profile else { return }
    if let warning = profile.warning { Output.note(style.yellow("warning: ") + SafeText.escape(warning, limit: 500)) }
    if !isWritten, let path { Output.note("Its profile (--write saves it as \(path)):") }
    Output.text(profile.text)
  }

  /// Prints the path of the written profile.
  func noteWritten(_ path: String, _ profile: IdentifiedProfile, _ device: Device) {
    guard !json else { return }
    Output.note(
      "written to \(path), for your own commands and for bridge-cli serve, which reads it after SIGHUP. The system's service doesn't "
        + "read it: bridge-cli setup \(SafeText.escape(device.place, limit: 200)) sets that up")
  }

  /// Prints what was found, and advice.
  func showFindings(_ outcome: IdentificationOutcome, _ device: Device) {
    for find in outcome.found { show(find, device) }
    if outcome.found.isEmpty {
      Output.note(style.bold("Nothing was found at \(SafeText.escape(device.address.description, limit: 200))."))
    }
    advice(outcome, device).forEach { Output.note("- " + $0) }
  }

  private func show(_ find: IdentificationFind, _ device: Device) {
    let rate = find.line.map { " at \($0.baudRate) baud" } ?? ""
    let port = SafeText.escape(device.address.description, limit: 200)
    Output.note(style.green("Found \(find.kind)\(rate)") + ", at \(port):")
    for fact in find.facts {
      Output.note("  \(SafeText.escape(fact.name, limit: 64))  \(SafeText.escape(fact.text, limit: 120))")
    }
  }

  /// Advice in sentences for the user. The accessory's own text in it is escaped.
  func advice(_ outcome: IdentificationOutcome, _ device: Device) -> [String] {
    var lines: [String] = []
    let address = SafeText.escape(device.address.description, limit: 200)
    guard outcome.found.isEmpty else {
      if outcome.found.contains(where: { isModbus($0.kind) }) {
        lines.append(
          "Different Modbus accessories answer alike: check that these values make sense before you trust it.")
      }
      if case .tcp(let place) = device.address, place.port != 502,
        let find = outcome.found.first(where: { isModbus($0.kind) })
      {
        lines.append(
          "It answers frames of Modbus RTU: describe it with modbus: {tcp: rtu}, as \(find.kind) alone means Modbus TCP."
        )
      }
      if device.address.transport.mustBeNamed, device.address.transport != .ble {
        lines.append(
          "Profiles are for ports of this machine; use it as \(address) with --driver \(outcome.found[0].kind).")
      }
      return lines
    }
    for refusal in outcome.refusals {
      lines.append(
        "Something speaks like \(refusal.name), but refuses the request: \(SafeText.escape(refusal.text, limit: 200))."
      )
    }
    for noise in outcome.noise { lines.append(Self.words(noise)) }
    if plan.isOnAir, outcome.stepCount == 0 {
      return lines + ["It has none of the characteristics by which known kinds are asked: bridge-cli info \(address)."]
    }
    if outcome.noise.isEmpty { lines.append("Nothing at all was received: is it on, awake, and connected?") }
    if plan.isOnAir { return lines + ["Is the maker's app, or another computer, connected to it?"] }
    if plan.steps.contains(where: { $0.line != nil }) {
      lines.append("RS-485: try A and B the other way round. RS-232 and TTL: RX goes to TX, and TX to RX.")
      lines.append(
        "Is there a common ground, and does the adapter have the accessory's level (RS-232, RS-485, 5 V, 3.3 V)?")
      lines.append("Rates and unit numbers that somebody has changed aren't tried: \(Self.example).")
    } else {
      lines.append("Check the other end: it sets the rate, and must pass frames on unchanged.")
    }
    return lines
  }

  private static let example = "describe it with its own rate, or use --driver NAME --baud RATE"

  private func isModbus(_ kind: String) -> Bool {
    KnownDrivers.library.protocols.described(kind)?.description.modbus != nil
  }

  private static func words(_ noise: IdentificationNoise) -> String {
    let rate = noise.baudRate.map { "At \($0) baud" } ?? "Here"
    let hex = noise.first.map { Hexadecimal.string([$0]) }.joined(separator: " ")
    let more = noise.byteCount > noise.first.count ? " …" : ""
    let text = String(decoding: noise.first.map { (0x20...0x7E).contains($0) ? $0 : 0x2E }, as: UTF8.self)
    let looks =
      noise.isEcho
      ? "What was sent comes back: RX and TX are connected, or the adapter receives what it sends."
      : noise.looksLikeText ? "It looks like text: \(text)" : "It is not text."
    let bytes = Amount.of(noise.byteCount, "byte", is: ("was", "were"))
    return "\(rate) \(bytes) received that no known protocol explains: \(hex)\(more). \(looks)"
  }
}
