// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

/// What a reading is called in texts for people. Documents have the names of the fields.
package enum ReadingLabel {
  /// "Charge", "Time to empty".
  package static func text(_ field: BatteryReading.Field) -> String { field.term.label }

  /// The label of a series of readings: of a battery's from the vocabulary, of an accessory's values by their names, as in
  /// "Input voltage" for `input_voltage`. The accessory's words are escaped.
  package static func text(series name: String) -> String {
    Vocabulary.kept.first { $0.series == name }?.label ?? SafeText.escape(NameWords.title(name))
  }
}
