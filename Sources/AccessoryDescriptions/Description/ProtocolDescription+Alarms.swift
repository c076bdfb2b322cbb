// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription {
  /// The rule with the reason why it can't be compared with the values of this protocol; nil where it can, and where the
  /// description doesn't say.
  package func misfit(of rule: AlarmRule) -> UnfitAlarm? {
    rule.misfit { units(ofValue: $0) }.map { UnfitAlarm(rule: rule, reason: $0) }
  }

  /// The units in which the value of this name may be reported; nil in them stands for none. Empty where there is no
  /// such value.
  private func units(ofValue name: String) -> [MeasurementUnit?] {
    guard DescribedPart.isValue(name) else { return [] }
    let fields = messages.flatMap(\.fields).filter { $0.name == name && !$0.isHidden }.map(\.unit)
    let derivations = derived.filter { $0.name == name && !$0.isHidden }.map(\.unit)
    return (fields + derivations).map { $0.map(MeasurementUnit.init(rawValue:)) }
  }
}
