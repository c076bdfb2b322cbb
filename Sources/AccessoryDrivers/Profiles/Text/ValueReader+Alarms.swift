// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// Reads rules of alarms: texts, and names with texts.
extension ValueReader {
  /// Reads a list of rules for one accessory, with their places. No two have the same name.
  package mutating func markedAlarmRules(_ node: YAMLNode) -> [(rule: AlarmRule, mark: YAMLMark)] {
    if node.content == .sequence([]) { return [] }
    var rules: [AlarmRule] = []
    var marks: [YAMLMark] = []
    for element in list(node, "alarms", limit: AlarmRule.countLimit) ?? [] {
      guard let rule = alarmRule(element) else { continue }
      add(rule, to: &rules, element)
      if rules.count > marks.count { marks.append(element.mark) }
    }
    return Array(zip(rules, marks)).map { ($0, $1) }
  }

  /// The rules that can't be compared with the values of this protocol, with their places.
  package func unfit(_ rules: [(rule: AlarmRule, mark: YAMLMark)], _ description: ProtocolDescription?)
    -> [ProfileProblem]
  {
    guard let description else { return [] }
    return rules.compactMap { rule, mark in
      description.misfit(of: rule).map {
        ProfileProblem(file: file, line: mark.line, column: mark.column, message: "the rule \($0)")
      }
    }
  }

  /// Adds a rule, unless there is one with its name.
  package mutating func add(_ rule: AlarmRule, to rules: inout [AlarmRule], _ node: YAMLNode) {
    guard !rules.contains(where: { $0.name == rule.name }) else {
      return report(node.mark, "there is an alarm \(Quoted.text(rule.name)) already: give each a name of its own")
    }
    rules.append(rule)
  }

  /// Reads a rule: its text, or a name with the text.
  package mutating func alarmRule(_ node: YAMLNode) -> AlarmRule? {
    if case .mapping(let entries) = node.content, entries.count == 1, case .scalar(let text) = entries[0].value.content
    {
      do throws(AlarmRuleError) {
        // The name is checked first, so that its mistakes are reported where it is.
        _ = try AlarmRule("fault", name: entries[0].key)
      } catch {
        report(entries[0].mark, error.message)
        return nil
      }
      return rule(entries[0].value) { () throws(AlarmRuleError) -> AlarmRule in
        try AlarmRule(text, name: entries[0].key)
      }
    }
    guard case .scalar(let text) = node.content else {
      report(
        node.mark, "an alarm is a rule like battery < 20 %, or a name with one (low: battery < 20 %), not \(kind(node))"
      )
      return nil
    }
    return rule(node) { () throws(AlarmRuleError) -> AlarmRule in try AlarmRule(text) }
  }

  private mutating func rule(_ node: YAMLNode, _ read: () throws(AlarmRuleError) -> AlarmRule) -> AlarmRule? {
    do throws(AlarmRuleError) {
      return try read()
    } catch {
      var mark = node.mark
      // In quotes the text begins one character later.
      mark.column += error.column - 1 + (node.style == .plain ? 0 : 1)
      report(mark, error.message)
      return nil
    }
  }
}
