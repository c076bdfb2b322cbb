// SPDX-License-Identifier: Apache-2.0

/// BATTERY_STATUS: one of the batteries. What the autopilot doesn't know is nil.
public struct MAVLinkBatteryStatus: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 147
  /// Voltages that it has room for.
  public static let voltageCount = 14

  /// How a battery is, as the autopilot sees it.
  public enum State: UInt8, Sendable, Hashable, CaseIterable {
    case ok = 1, low, critical, emergency, failed, unhealthy, charging
  }

  /// Which battery.
  public var id: UInt8
  /// What it is for: 1 everything, 2 propulsion, 3 avionics, 4 payload; 0 isn't known.
  public var function: UInt8 = 0
  /// What is in it: 1 LiPo, 2 LiFe, 3 Li-ion, 4 NiMH; 0 isn't known.
  public var type: UInt8 = 0
  /// Degrees Celsius in hundredths.
  public var centidegrees: Int16?
  /// Millivolts, 14 of them: of the cells where those are known; else the first is the whole battery's, and what is beyond
  /// 65,534 mV is in the next.
  public var voltages: [UInt16?] = Array(repeating: nil, count: voltageCount)
  /// Hundredths of an ampere; positive: it is being discharged.
  public var centiamperes: Int16?
  /// Milliampere hours that were taken out of it.
  public var consumedMilliampereHours: Int32?
  /// Hundreds of joules that were taken out of it.
  public var consumedHectojoules: Int32?
  /// How full it is in percent, 0…100.
  public var percent: UInt8?
  /// Seconds until it is empty.
  public var secondsRemaining: Int32?
  /// How it is; an extension.
  public var state: State?
  /// What it is doing: 1 discharging itself for storage, 2 waiting to be swapped in; an extension.
  public var mode: UInt8 = 0
  /// What is wrong with it, a bit each; an extension.
  public var faults: UInt32 = 0

  /// A battery of which nothing is known.
  public init(id: UInt8 = 0) { self.id = id }

  init(_ payload: RawSpan) {
    consumedMilliampereHours = payload.padded(0, as: Int32.self).known
    consumedHectojoules = payload.padded(4, as: Int32.self).known
    centidegrees = payload.padded(8, as: Int16.self).unless(.max)
    // Of the extension 0 means that there is no such cell; and some say it as for the others.
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

  // MARK: - What the numbers mean

  /// The most that a cell of any kind has, in millivolts: what is more is the voltage of several.
  static let mostOfCell: UInt16 = 5_500

  /// The voltages up to the last that is known.
  private var known: ArraySlice<UInt16?> {
    voltages.prefix((voltages.lastIndex { $0 != nil } ?? -1) + 1)
  }

  /// Millivolts of the cells, nil for one that isn't known; empty where the voltages are not those of cells.
  public var cells: [UInt16?] {
    known.count > 1 && known.allSatisfy { $0.map { $0 <= Self.mostOfCell } ?? true } ? Array(known) : []
  }

  /// Millivolts of the whole battery, which are the sum of its cells where these are known; nil unless all are.
  public var millivolts: Int? {
    let known = known.compactMap { $0 }
    return known.isEmpty || known.count != self.known.count ? nil : known.reduce(0) { $0 + Int($1) }
  }

  /// Whether `millivolts` was worked out.
  public var isSumOfCells: Bool { known.count > 1 }

  /// What is wrong with it, in words; nil where the autopilot doesn't say.
  public var faultWords: [String]? {
    var words = (0..<32).filter { faults >> UInt32($0) & 1 == 1 }.map { bit in
      Self.faultNames.indices.contains(bit) ? Self.faultNames[bit] : "fault \(bit)"
    }
    if state == .failed { words.append("failed") }
    if state == .unhealthy { words.append("unhealthy") }
    return words.isEmpty && state == nil ? nil : words
  }

  /// What it is for, in a word; nil where that isn't known.
  public var functionWord: String? { Self.word(function, ["", "all", "propulsion", "avionics", "payload"]) }

  /// What is in it, in a word; nil where that isn't known.
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
  /// The number; nil for -1, which stands for none, and whatever else is negative.
  var known: Int32? { self < 0 ? nil : self }
}
