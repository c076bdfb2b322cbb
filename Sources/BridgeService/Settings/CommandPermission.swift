// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers

/// An entry of the service's configuration: a command that clients of `readings.socket` may perform, and within which limits.
package struct CommandPermission: Sendable, Hashable {
  /// The accessories that an entry is for.
  package enum Subject: Sendable, Hashable {
    /// The accessories with this id or serial number.
    case accessory(String)
    /// Accessories with the profile of this name.
    case profile(String)
    /// Accessories with the driver of this name.
    case driver(String)
  }

  /// The permitted values of an argument.
  package enum Limit: Sendable, Hashable {
    /// Everything that the command accepts.
    case any
    /// A whole number in this range.
    case range(ClosedRange<Int>)
    /// One of these values, as a user types them. If the argument is a list with commas, each of its words.
    case words([String])
  }

  /// The rate limit of a command: a number of times within any interval of this length.
  package struct Rate: Sendable, Hashable {
    package var count: Int
    package var interval: Duration

    package init(_ count: Int, every interval: Duration) { (self.count, self.interval) = (count, interval) }

    /// The default: enough for a person who presses buttons, and a limit for a faulty loop.
    package static let standard = Rate(5, every: .seconds(10))

    /// The rate as it is written in a file: "5 every 10s".
    package var text: String { "\(count) every \(TimeText.text(interval))" }
  }

  package var subject: Subject
  /// The command's name.
  package var command: String
  /// The limits of arguments by name. Other arguments can't be given.
  package var arguments: [String: Limit]
  /// Whether the command may be performed although it changes something in the accessory.
  package var mayWrite: Bool
  package var rate: Rate

  package init(
    _ subject: Subject, _ command: String, arguments: [String: Limit] = [:], mayWrite: Bool = false,
    rate: Rate = .standard
  ) {
    (self.subject, self.command, self.arguments) = (subject, command, arguments)
    (self.mayWrite, self.rate) = (mayWrite, rate)
  }
}

// Comparison with a driver's command.

extension CommandPermission {
  /// Why a call of this entry's command is not permitted; nil when it is. `given` are the names of the arguments that the
  /// caller has given. A default counts as given where the entry has a limit for it.
  package func refusal(of call: CommandCall, given: some Collection<String>) -> String? {
    if call.command.isWrite, !mayWrite { return "it changes something, and its entry does not say write: true" }
    for argument in call.command.arguments {
      guard let limit = arguments[argument.name] else {
        if given.contains(argument.name) { return "its entry does not name the argument \(argument.name)" }
        continue
      }
      let value = call.values[argument.name] ?? .nothing
      guard !limit.permits(value, of: argument.kind) else { continue }
      let typed = SafeText.escape(value.typed ?? "nothing", limit: 100)
      return "\(argument.name) may be \(limit.text), not \(typed)"
    }
    return nil
  }

  /// The command as far as it is permitted: with the arguments that may be given, and their limits. Nil when it can't be
  /// performed at all. An argument whose default isn't permitted has none.
  package func narrowed(_ command: CommandDescription) -> CommandDescription? {
    guard mayWrite || !command.isWrite else { return nil }
    var narrowed = command
    narrowed.arguments = []
    for argument in command.arguments {
      guard let limit = arguments[argument.name] else {
        if argument.defaultValue == nil { return nil }
        continue
      }
      guard let kind = limit.narrowed(argument.kind) else { return nil }
      var argument = argument
      if let value = argument.defaultValue, !limit.permits(value, of: argument.kind) { argument.defaultValue = nil }
      argument.kind = kind
      narrowed.arguments.append(argument)
    }
    return narrowed
  }
}

extension CommandPermission.Limit {
  /// The limit in a sentence: "0 to 50", "red or green".
  package var text: String {
    switch self {
    case .any: "anything"
    case .range(let range):
      switch (range.lowerBound, range.upperBound) {
      case (.min, let maximum): "at most \(maximum)"
      case (let minimum, .max): "at least \(minimum)"
      case (let minimum, let maximum): "\(minimum) to \(maximum)"
      }
    case .words(let words):
      SafeText.escape(words.prefix(20).joined(separator: " or ") + (words.count > 20 ? " …" : ""), limit: 300)
    }
  }

  /// Whether an argument of this kind may have this value.
  func permits(_ value: CommandValue, of kind: CommandDescription.Kind) -> Bool {
    switch self {
    case .any: return true
    case .range(let range): if case .whole(let number) = value { return range.contains(number) } else { return false }
    case .words(let words):
      let permitted = words.compactMap { kind.value($0) }
      guard case .choices = kind, case .list(let chosen) = value else { return permitted.contains(value) }
      return Self.elements(permitted).isSuperset(of: chosen)
    }
  }

  /// The kind of an argument within this limit; nil when nothing is left of it.
  func narrowed(_ kind: CommandDescription.Kind) -> CommandDescription.Kind? {
    switch (self, kind) {
    case (.any, _): return kind
    case (.range(let range), .whole(let whole)): return whole.overlaps(range) ? .whole(whole.clamped(to: range)) : nil
    case (.range, _): return nil
    case (.words(let words), .choice(let all)):
      let chosen = words.compactMap { kind.value($0)?.typed }
      return chosen.isEmpty ? nil : .choice(all.filter(chosen.contains))
    case (.words(let words), .choices(let all)):
      let chosen = Self.elements(words.compactMap { kind.value($0) }).compactMap(\.typed)
      return chosen.isEmpty ? nil : .choices(all.filter(chosen.contains))
    // Of other kinds the values are a choice for the client.
    case (.words(let words), _):
      let chosen = words.filter { kind.value($0) != nil }
      return chosen.isEmpty ? nil : .choice(chosen)
    }
  }

  /// Whether the limit is one for arguments of this kind.
  func fits(_ kind: CommandDescription.Kind) -> Bool {
    switch (self, kind) {
    case (.range, .whole): true
    case (.range, _): false
    case (.any, _), (.words, _): true
    }
  }

  private static func elements(_ values: [CommandValue]) -> Set<CommandValue> {
    Set(values.flatMap { if case .list(let list) = $0 { list } else { [$0] } })
  }
}
