// SPDX-License-Identifier: Apache-2.0

import AccessoryDescriptions
import AccessoryProtocols

extension Samples {
  /// A solar charger with Modbus: voltage and current of the battery (word order, sign), and a word of bits, by two
  /// requests of the same form; a bit; text.
  public static let charger: ProtocolDescription = {
    typealias Field = ProtocolDescription.Field
    func register(
      _ address: Int, _ name: String, _ format: ProtocolDescription.NumberFormat, over denominator: Int = 1,
      bits: ClosedRange<Int>? = nil, byte: Int = 0, repetitions: Int = 1
    ) -> ProtocolDescription.Register {
      var field = Field(name, .number(format))
      field.formula = .scaled(over: denominator)
      field.bits = bits.map { .init(lowest: $0.lowerBound, count: $0.count) }
      field.isList = repetitions > 1
      return .init(address, count: max(1, format.byteCount / 2), byte: byte, repetitions: repetitions, field)
    }
    let u16 = ProtocolDescription.NumberFormat(byteCount: 2)
    var current = ProtocolDescription.NumberFormat(byteCount: 4, encoding: .signed)
    current.hasWordsSwapped = true
    let temperature = ProtocolDescription.NumberFormat(byteCount: 1, encoding: .signMagnitude)
    let single = ProtocolDescription.NumberFormat(byteCount: 4, encoding: .float)
    let groups: [(name: String, function: Int, registers: [ProtocolDescription.Register])] = [
      (
        "battery", 4,
        [register(0x331A, "battery.voltage", u16, over: 100), register(0x331B, "battery.current", current, over: 100)]
      ),
      (
        "state", 4,
        [
          register(0x3200, "condition", u16, bits: 0...3), register(0x3200, "heat", u16, bits: 4...7),
          register(0x3201, "charging", u16), register(0x3202, "discharging", u16),
        ]
      ),
      (
        "parts", 3,
        [
          register(0x0103, "battery_temperature", temperature, byte: 1), register(0x0103, "temperature", temperature),
          register(0x0104, "cells", u16, over: 1_000, repetitions: 3), register(0x0107, "price", single),
        ]
      ),
      (
        "night", 2,
        [register(0x2000, "is_hot", .init(byteCount: 1)), register(0x2009, "is_night", .init(byteCount: 1))]
      ),
    ]
    var charger = ProtocolDescription(name: "charger")
    charger.becomeModbus(.init())
    for (name, function, registers) in groups {
      for block in ProtocolDescription.RegisterBlock.blocks(of: registers, function: function, longest: 125, hole: 8) {
        charger.addRequest(name, "", reads: block)
      }
    }
    return charger
  }()
}
