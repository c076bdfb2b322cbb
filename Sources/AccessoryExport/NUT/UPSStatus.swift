// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The content of `ups.status` for an accessory.
///
/// NUT's `upsmon` shuts its machine down when a UPS is on battery and low, and newer ones also when it is off or was lost in an alarm. But a
/// battery pack that powers something else is discharged, low and faulty at times. So only of accessories that the user has named as UPSs
/// all words are said. All others are always `OL` (on line), whether they charge or discharge.
package struct UPSStatus: Sendable, Hashable {
  /// A word of NUT that something sets. HB, ECO and TEST have no source here, and so are never said.
  package enum Word: String, Sendable, CaseIterable {
    // In the order in which NUT's drivers say them.
    case alarm = "ALARM"
    case onLine = "OL"
    case onBattery = "OB"
    case discharging = "DISCHRG"
    case charging = "CHRG"
    case low = "LB"
    case overloaded = "OVER"
    case replaceBattery = "RB"
    case trim = "TRIM"
    case boost = "BOOST"
    case bypass = "BYPASS"
    case off = "OFF"
    case calibrating = "CAL"
    case shuttingDown = "FSD"

    /// The role of the value that sets the word.
    package var role: AccessoryValue.Role? {
      switch self {
      case .onBattery: Vocabulary.onBattery.role
      case .low: "ups.low_battery"
      case .overloaded: "ups.overload"
      case .trim: "ups.trim"
      case .boost: "ups.boost"
      case .bypass: "ups.bypass"
      case .off: "ups.off"
      case .calibrating: "ups.calibrating"
      case .shuttingDown: "ups.shutting_down"
      case .alarm, .onLine, .discharging, .charging, .replaceBattery: nil
      }
    }

    /// The battery's warnings and faults that set the word, too.
    package var notices: Set<String> {
      switch self {
      case .low: ["battery-low", "battery-shutdown", "shutdown-imminent", "time-limit-expired"]
      case .overloaded: ["overload"]
      case .replaceBattery: ["replace-battery"]
      default: []
      }
    }

    /// Whether the word is said of accessories that nobody has named as UPSs: no `upsmon` ever shuts its machine down for it.
    var isHarmless: Bool { [.onLine, .discharging, .charging, .overloaded, .replaceBattery].contains(self) }
  }

  /// Whether the accessory says if it runs on battery power.
  static func isKnown(of accessory: ExportedAccessory) -> Bool {
    accessory.values.flag(Vocabulary.onBattery.role) != nil || (accessory.battery?.charge ?? .unknown) != .unknown
  }

  /// The words that hold.
  package let words: Set<Word>
  /// When the battery is low.
  package let low: LowBattery
  /// What is wrong, for `ups.alarm`. A word says that there is something.
  package let alarms: [String]

  /// The status of an accessory. `isUPS` is true if the user has named it as a UPS, and `limit` is the owner's limit.
  package init(_ accessory: ExportedAccessory, isUPS: Bool, limit: LowLimit? = nil) {
    let battery = accessory.battery
    let notices = Set((battery?.warnings ?? []) + (battery?.faults ?? []))
    func isSaid(_ word: Word) -> Bool? {
      if !word.notices.isDisjoint(with: notices) { return true }
      return word.role.flatMap { accessory.values.flag($0) }
    }
    low = LowBattery(battery, accessory.values, isSaid: isSaid(.low), limit: limit)
    let isOnBattery = isSaid(.onBattery)
    var words = Set(Word.allCases.filter { isSaid($0) == true })
    // A UPS says whether there is mains power. For other batteries, discharging counts as "on battery".
    if isOnBattery == nil, battery?.charge == .discharging { words.insert(.onBattery) }
    switch battery?.charge {
    case .charging: words.insert(.charging)
    // What was only concluded from the missing mains power was not said.
    case .discharging where isOnBattery != true || battery?.derived.contains(.charge) == false:
      words.insert(.discharging)
    default: break
    }
    if low.isLow { words.insert(.low) } else { words.remove(.low) }
    let imminent = notices.contains("shutdown-imminent") || words.contains(.shuttingDown) ? ["shutdown-imminent"] : []
    alarms = (battery?.faults ?? []) + (isUPS ? imminent + (words.contains(.bypass) ? ["bypass"] : []) : [])
    if !alarms.isEmpty { words.insert(.alarm) }
    if !isUPS { words = words.filter(\.isHarmless) }
    if !words.contains(.onBattery) { words.insert(.onLine) }
    self.words = words
  }

  /// NUT's status words separated by blanks: "OL CHRG", "OB DISCHRG LB".
  package var text: String { Word.allCases.filter(words.contains).map(\.rawValue).joined(separator: " ") }
}
