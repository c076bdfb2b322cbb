// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// The names of readings in texts for people. Documents use the names of the fields.
package enum ReadingLabel {
  /// "Charge", "Time to empty".
  package static func text(_ field: BatteryReading.Field) -> String { field.term.label }

  /// The label of a series of readings. A battery's label comes from the vocabulary; a value's label from its name, for example
  /// "Input voltage" for `input_voltage`. Text from the accessory is escaped.
  package static func text(series name: String) -> String {
    if name == ReadingSeries.power { return text(.power) }
    return Vocabulary.kept.first { $0.series == name }?.label ?? SafeText.escape(NameWords.title(name))
  }
}
