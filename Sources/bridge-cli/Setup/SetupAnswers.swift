// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput
import FleetCommands

/// What words of a command line or of an answer mean.
enum SetupAnswers {
  /// The places where it is seen. Throws `ValidationError` for a word that is none.
  static func outlets(_ text: String) throws -> [SetupOutlet] {
    let words = text.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
    if words == ["none"] { return [] }
    return try words.reduce(into: []) { outlets, word in
      guard let outlet = SetupOutlet(rawValue: word) else {
        let known = SetupOutlet.allCases.map(\.rawValue)
        let near = NearestWord.find(word, among: known).flatMap { $0.isLikely ? ": did you mean \($0.word)?" : nil }
        throw ValidationError(
          "it can't be seen at \(SafeText.escape(word, limit: 64))\(near ?? "; the places are \(known.joined(separator: ", ")), or none")"
        )
      }
      if !outlets.contains(outlet) { outlets.append(outlet) }
    }
  }

  /// The rules of `--alarm`; nil where there is none, and none for "none".
  static func alarms(_ texts: [String]) throws -> [AlarmRule]? {
    if texts.isEmpty { return nil }
    if texts == ["none"] { return [] }
    let rules = try texts.map { text in
      do { return try AlarmRule(text) } catch {
        throw ValidationError("\(error); the rules are described in Documentation/alarms.md")
      }
    }
    if let twice = rules.indices.first(where: { at in rules[..<at].contains { $0.name == rules[at].name } }) {
      throw ValidationError(
        "two alarms are named \(SafeText.escape(rules[twice].name)): name one of them, like 'low: battery < 20 %'")
    }
    guard rules.count <= AlarmRule.countLimit else {
      throw ValidationError("there can be \(AlarmRule.countLimit) alarms at most")
    }
    return rules
  }

  static func check(broker: String) throws {
    if let problem = PublisherText.problem(broker: broker) { throw ValidationError("the broker must be \(problem)") }
  }

  /// The alarms that are offered for a kind.
  static func usualAlarms(_ kind: String, _ described: DescribedProtocol?) -> [AlarmRule] {
    let description = described?.description ?? KnownDrivers.library.protocols.described(kind)?.description
    let driver = description.map { Driver($0) } ?? KnownDrivers.driver(named: kind)
    var texts: [String] = []
    // That in Swift has these names.
    func value(_ role: String, _ name: String) -> String? {
      description == nil ? name : description?.name(ofRole: role)
    }
    if driver?.isUPS == true, let name = value("ups.on_battery", "on_battery") {
      texts.append("on battery: \(name) = yes")
      if let low = value("ups.low_battery", "low_battery") { texts.append("battery low: \(low) = yes") }
    } else if driver?.lacks.contains(.battery) == false {
      texts.append("battery < 20 %")
    }
    if description?.messages.contains(where: { $0.fields.contains { $0.name == "battery.cells" } }) == true {
      texts.append("cell spread > 100 mV for 5 min")
    }
    texts += ["fault", "silent for 5 min"]
    return texts.compactMap { try? AlarmRule($0) }
  }
}
