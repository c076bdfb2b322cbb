// SPDX-License-Identifier: Apache-2.0

/// The unit of a number. The raw value is its symbol, which is also used in JSON documents. Programs should know the
/// constants below; any other symbol is possible.
public struct MeasurementUnit: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The symbol.
  public var rawValue: String
  /// The unit with this symbol.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The unit with this symbol.
  public init(stringLiteral symbol: String) { rawValue = symbol }
  /// The symbol. Escape it before showing it if it came from an accessory.
  public var description: String { rawValue }

  // MARK: - Electricity

  /// Volts.
  public static let volt: MeasurementUnit = "V"
  /// Millivolts.
  public static let millivolt: MeasurementUnit = "mV"
  /// Amperes.
  public static let ampere: MeasurementUnit = "A"
  /// Milliamperes.
  public static let milliampere: MeasurementUnit = "mA"
  /// Watts.
  public static let watt: MeasurementUnit = "W"
  /// Kilowatts.
  public static let kilowatt: MeasurementUnit = "kW"
  /// Volt-amperes, of apparent power.
  public static let voltAmpere: MeasurementUnit = "VA"
  /// Volt-amperes reactive, of reactive power.
  public static let voltAmpereReactive: MeasurementUnit = "var"
  /// Watt hours.
  public static let wattHour: MeasurementUnit = "Wh"
  /// Kilowatt hours.
  public static let kilowattHour: MeasurementUnit = "kWh"
  /// Kilovolt-ampere-reactive hours.
  public static let kilovoltAmpereReactiveHour: MeasurementUnit = "kvarh"
  /// Ampere hours.
  public static let ampereHour: MeasurementUnit = "Ah"
  /// Milliampere hours.
  public static let milliampereHour: MeasurementUnit = "mAh"
  /// Ohms.
  public static let ohm: MeasurementUnit = "Ω"
  /// Milliohms.
  public static let milliohm: MeasurementUnit = "mΩ"

  // MARK: - Time

  /// Hertz.
  public static let hertz: MeasurementUnit = "Hz"
  /// Milliseconds.
  public static let millisecond: MeasurementUnit = "ms"
  /// Seconds.
  public static let second: MeasurementUnit = "s"
  /// Minutes.
  public static let minute: MeasurementUnit = "min"
  /// Hours.
  public static let hour: MeasurementUnit = "h"
  /// Days.
  public static let day: MeasurementUnit = "d"

  // MARK: - Place and movement

  /// Millimetres.
  public static let millimetre: MeasurementUnit = "mm"
  /// Centimetres.
  public static let centimetre: MeasurementUnit = "cm"
  /// Metres.
  public static let metre: MeasurementUnit = "m"
  /// Kilometres.
  public static let kilometre: MeasurementUnit = "km"
  /// Metres a second.
  public static let metrePerSecond: MeasurementUnit = "m/s"
  /// Kilometres an hour.
  public static let kilometrePerHour: MeasurementUnit = "km/h"
  /// Degrees, of an angle.
  public static let degree: MeasurementUnit = "°"
  /// Degrees a second.
  public static let degreePerSecond: MeasurementUnit = "°/s"
  /// Revolutions a minute.
  public static let revolutionPerMinute: MeasurementUnit = "rpm"

  // MARK: - Air, light, matter

  /// Degrees Celsius.
  public static let celsius: MeasurementUnit = "°C"
  /// Kelvins, of a temperature difference.
  public static let kelvin: MeasurementUnit = "K"
  /// Percent.
  public static let percent: MeasurementUnit = "%"
  /// Hectopascals.
  public static let hectopascal: MeasurementUnit = "hPa"
  /// Pascals.
  public static let pascal: MeasurementUnit = "Pa"
  /// Bars.
  public static let bar: MeasurementUnit = "bar"
  /// Lux.
  public static let lux: MeasurementUnit = "lx"
  /// Micrograms in a cubic metre.
  public static let microgramPerCubicMetre: MeasurementUnit = "µg/m³"
  /// Parts in a million.
  public static let partPerMillion: MeasurementUnit = "ppm"
  /// Grams.
  public static let gram: MeasurementUnit = "g"
  /// Kilograms.
  public static let kilogram: MeasurementUnit = "kg"
  /// Litres.
  public static let litre: MeasurementUnit = "L"

  // MARK: - Signals and data

  /// Decibels.
  public static let decibel: MeasurementUnit = "dB"
  /// Decibels above a milliwatt.
  public static let decibelMilliwatt: MeasurementUnit = "dBm"
  /// Bytes.
  public static let byte: MeasurementUnit = "B"
  /// 1000 bytes.
  public static let kilobyte: MeasurementUnit = "kB"
  /// 1024 bytes.
  public static let kibibyte: MeasurementUnit = "KiB"
  /// Bits a second.
  public static let bitPerSecond: MeasurementUnit = "bit/s"

  /// All constants of this type.
  public static let known: [MeasurementUnit] = rows.map(\.unit)
}
