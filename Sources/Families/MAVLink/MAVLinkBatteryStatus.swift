// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// BATTERY_STATUS: the state of one of the batteries. Fields that the autopilot doesn't know are nil.
public struct MAVLinkBatteryStatus: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 147
  /// How many voltages the message has.
  public static let voltageCount = 14

  /// The state of a battery, as the autopilot judges it.
  public enum State: UInt8, Sendable, Hashable, CaseIterable {
    case ok = 1, low, critical, emergency, failed, unhealthy, charging
  }

  /// The number of the battery.
  public var id: UInt8
  /// What the battery supplies: 1 everything, 2 propulsion, 3 avionics, 4 payload; 0 if it isn't known.
  public var function: UInt8 = 0
  /// The chemistry of the battery: 1 LiPo, 2 LiFe, 3 Li-ion, 4 NiMH; 0 if it isn't known.
  public var type: UInt8 = 0
  /// The temperature, in hundredths of a degree Celsius.
  public var centidegrees: Int16?
  /// 14 voltages in millivolts: of the cells if they are known. If not, the first is the voltage of the whole battery,
  /// and what exceeds 65,534 mV is in the next.
  public var voltages: [UInt16?] = Array(repeating: nil, count: voltageCount)
  /// The current in hundredths of an ampere, positive while discharging.
  public var centiamperes: Int16?
  /// The charge that was drawn, in milliampere hours.
  public var consumedMilliampereHours: Int32?
  /// The energy that was drawn, in hundreds of joules.
  public var consumedHectojoules: Int32?
  /// The charge in percent, 0…100.
  public var percent: UInt8?
  /// Seconds until the battery is empty.
  public var secondsRemaining: Int32?
  /// The state; an extension.
  public var state: State?
  /// 1 if it discharges itself for storage, 2 if it is ready to be swapped in; an extension.
  public var mode: UInt8 = 0
  /// Its faults, one bit for each; an extension.
  public var faults: UInt32 = 0

  /// A battery of which all other fields are unknown.
  public init(id: UInt8 = 0) { self.id = id }

  init(_ payload: RawSpan) {
    consumedMilliampereHours = payload.padded(0, as: Int32.self).known
    consumedHectojoules = payload.padded(4, as: Int32.self).known
    centidegrees = payload.padded(8, as: Int16.self).unless(.max)
    // In the extension, 0 means that there is no such cell. Some senders use the maximum instead, as in the other
    // fields.
    voltages =
      (0..<10).map { payload.padded(10 + 2 * $0, as: UInt16.self).unless(.max) }
      + (0..<4).map { payload.padded(41 + 2 * $0, as: UInt16.self).unless(0).flatMap { $0.unless(.max) } }
    centiamperes = payload.padded(30, as: Int16.self).unless(-1)
    id = payload.padded(32)
    function = payload.padded(33)
    type = payload.padded(34)
    percent = payload.padded(35, as: UInt8.self).percent
    secondsRemaining = payload.padded(36, as: Int32.self).unless(0).flatMap { $0.known }
    state = State(rawValue: payload.padded(40))
    mode = payload.padded(49)
    faults = payload.padded(50)
  }

  var payload: [UInt8] {
    let voltages = voltages.prefix(Self.voltageCount) + Array(repeating: nil, count: max(0, 14 - voltages.count))
    var bytes: [UInt8] = []
    bytes.append(littleEndian: consumedMilliampereHours ?? -1)
    bytes.append(littleEndian: consumedHectojoules ?? -1)
    bytes.append(littleEndian: centidegrees ?? .max)
    for voltage in voltages.prefix(10) { bytes.append(littleEndian: voltage ?? .max) }
    bytes.append(littleEndian: centiamperes ?? -1)
    bytes += [id, function, type, percent ?? .max]
    bytes.append(littleEndian: secondsRemaining ?? 0)
    bytes.append(state?.rawValue ?? 0)
    for voltage in voltages.dropFirst(10) { bytes.append(littleEndian: voltage ?? 0) }
    bytes.append(mode)
    bytes.append(littleEndian: faults)
    return bytes
  }

  // MARK: - Interpretation

  /// The highest voltage of a cell of any chemistry, in millivolts. A higher voltage is that of several cells.
  static let highestCellMillivolts: UInt16 = 5_500

  /// The voltages up to the last one that is known.
  private var known: ArraySlice<UInt16?> {
    voltages.prefix((voltages.lastIndex { $0 != nil } ?? -1) + 1)
  }

  /// The voltages of the cells in millivolts, nil for one that isn't known; empty if the voltages are not those of
  /// cells.
  public var cells: [UInt16?] {
    known.count > 1 && known.allSatisfy { $0.map { $0 <= Self.highestCellMillivolts } ?? true } ? Array(known) : []
  }

  /// The voltage of the whole battery in millivolts, or the sum of its cells; nil if any of them isn't known.
  public var millivolts: Int? {
    let known = known.compactMap { $0 }
    return known.isEmpty || known.count != self.known.count ? nil : known.reduce(0) { $0 + Int($1) }
  }

  /// Whether `millivolts` is a sum.
  public var isSumOfCells: Bool { known.count > 1 }

  /// Its faults in words; nil if the autopilot doesn't say.
  public var faultWords: [String]? {
    var words = (0..<32).filter { faults >> UInt32($0) & 1 == 1 }.map { bit in
      Self.faultNames.indices.contains(bit) ? Self.faultNames[bit] : "fault \(bit)"
    }
    if state == .failed { words.append("failed") }
    if state == .unhealthy { words.append("unhealthy") }
    return words.isEmpty && state == nil ? nil : words
  }

  /// What the battery supplies, in a word; nil if it isn't known.
  public var functionWord: String? { Self.word(function, ["", "all", "propulsion", "avionics", "payload"]) }

  /// The chemistry, in a word; nil if it isn't known.
  public var typeWord: String? { Self.word(type, ["", "LiPo", "LiFe", "Li-ion", "NiMH"]) }

  private static func word(_ number: UInt8, _ words: [String]) -> String? {
    number > 0 && Int(number) < words.count ? words[Int(number)] : nil
  }

  private static let faultNames = [
    "deep discharge", "voltage spikes", "cell failure", "overcurrent", "overtemperature", "undertemperature",
    "incompatible voltage", "incompatible firmware", "incompatible cells",
  ]
}

extension Int32 {
  /// The number; nil for -1, which means "unknown", and for other negative numbers.
  var known: Int32? { self < 0 ? nil : self }
}
