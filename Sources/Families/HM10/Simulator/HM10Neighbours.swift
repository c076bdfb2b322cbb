// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyHM10

/// Simulated devices around a simulated module. Some of their names would harm a terminal that shows them unescaped.
public struct HM10Neighbours: Sendable {
  /// The devices, with their latest signal strengths.
  public private(set) var all: [HM10Neighbour]
  private var random: SeededGenerator

  /// This many devices. The same seed gives the same devices.
  public init(count: Int, seed: UInt64) {
    random = SeededGenerator(seed: seed)
    all = []
    for number in 0..<max(0, count) {
      let name = Self.names[number % Self.names.count]
      let strength = -30 - Int(random.next() % 70)
      guard let address = BluetoothAddress(rawValue: 0x0017_EA00_0000 + UInt64(number)) else { continue }
      all.append(
        HM10Neighbour(
          address: address, addressType: number % 3,
          name: name.map { number < Self.names.count ? $0 : "\($0) \(number)" },
          signalStrength: strength))
    }
  }

  /// Common names, and hostile ones: escape sequences, line ends followed by what looks like a module's replies,
  /// right-to-left text, and no name.
  private static let names: [String?] = [
    "HMSoft", "L3250 Series", "Bluno", nil, "\u{1B}[31mred\u{1B}[0m", "bell\u{7}", "two\rlines", "x\r\nOK+DISCE",
    "y\r\nOK+CONN", "OK+LOST", "\u{202E}drawkcab", "\u{1B}]0;title\u{7}", "naïve ☂", "a b\tc", "\u{0}nul",
    "OK+NAME:z",
  ]

  /// Changes each signal strength by a few dBm.
  public mutating func change() {
    for index in all.indices {
      let strength = (all[index].signalStrength ?? -60) + Int(random.next() % 9) - 4
      all[index].signalStrength = min(-20, max(-120, strength))
    }
  }
}
