// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

// Reads how much values matter to people, and what follows from how they are asked for.
extension DescriptionReader {
  /// Reads the importance of a value. Reports one for the common values, and a second one that differs.
  mutating func importance(_ keys: KeyedNodes, of name: String) {
    guard let node = keys["importance"], let stated: Importance = choice(keys, "importance") else { return }
    if !DescribedPart.isValue(name) {
      return report(node.mark, "\(name) has no importance of its own: it is the same for everybody's")
    }
    if let known = description.importance[name], known != stated {
      return report(
        node.mark, "\(name) is \(known.rawValue) elsewhere: the importance of a value must be the same everywhere")
    }
    description.importance[name] = stated
  }

  /// What a request sets is a setting. What is asked for once, where other values are asked for again and again, doesn't change:
  /// it is what the accessory is made for.
  mutating func impliedImportance() {
    for request in description.requests {
      for setting in request.sets where DescribedPart.isValue(setting.field) {
        imply(.setting, for: setting.field)
      }
    }
    let polls = description.plan.polls
    let repeated = polls.filter { $0.interval != nil }.flatMap(\.requests)
    guard !repeated.isEmpty else { return }
    func messages(_ requests: [Int]) -> Set<Int> { Set(requests.compactMap { description.requests[$0].reply }) }
    let changing = messages(repeated).union(description.messages.indices.filter { description.messages[$0].isPushed })
    let changingNames = Set(changing.flatMap { description.needed($0) })
    for message in messages(polls.filter { $0.interval == nil }.flatMap(\.requests)).subtracting(changing) {
      for field in description.messages[message].fields
      where DescribedPart.isValue(field.name) && !changingNames.contains(field.name) {
        let unit = field.unit.map { MeasurementUnit(rawValue: $0) }
        let quantity =
          field.quantity.map { AccessoryValue.Quantity(rawValue: $0) }
          ?? unit.flatMap { Vocabulary.quantity(impliedBy: $0) }
        let role = field.role.map { AccessoryValue.Role(rawValue: $0) }
        // Settings and identities never change, either.
        if Importance(of: field.name, quantity, unit, role) == .shown { imply(.rated, for: field.name) }
      }
    }
  }

  private mutating func imply(_ importance: Importance, for name: String) {
    if description.importance[name] == nil { description.importance[name] = importance }
  }
}
