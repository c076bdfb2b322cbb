// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser

/// The rules of alarms on the command line.
struct AlarmOptions: PlainOptions {
  @Option(
    name: .customLong("alarm"),
    help: .value("rule", "Raise an alarm by this rule, like 'battery < 20 %'; may be repeated."),
    transform: AlarmOptions.rule)
  var rules: [AlarmRule] = []

  mutating func setDefaults() { rules = [] }

  func validate() throws {
    guard rules.count <= AlarmRule.countLimit else {
      throw ValidationError("--alarm can be given \(AlarmRule.countLimit) times at most")
    }
    let names = rules.map(\.name)
    if let twice = names.indices.first(where: { names[..<$0].contains(names[$0]) }) {
      throw ValidationError(
        "two alarms are named \(SafeText.escape(names[twice])): name one of them, like --alarm 'low: battery < 20 %'"
      )
    }
  }

  private static func rule(_ text: String) throws -> AlarmRule {
    do {
      let rule = try AlarmRule(text)
      if let question = rule.question, !text.contains("value "), !text.contains("\"") {
        throw ValidationError("\(question) A value of this name needs the word value before it")
      }
      return rule
    } catch let error as AlarmRuleError {
      throw ValidationError("\(error); the rules are described in Documentation/alarms.md")
    }
  }
}
