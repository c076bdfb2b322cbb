// SPDX-License-Identifier: Apache-2.0

extension AccessoryValue {
  /// A value of these parts.
  @available(*, deprecated, renamed: "init(_:quantity:unit:content:isDerived:)")
  public init(
    _ name: String, _ quantity: Quantity? = nil, _ unit: MeasurementUnit? = nil, _ content: Content?,
    isDerived: Bool = false
  ) { self.init(name, quantity: quantity, unit: unit, content: content, isDerived: isDerived) }

  /// A value with a number. Nil, infinity and NaN make it unknown.
  @available(*, deprecated, renamed: "init(_:quantity:unit:number:isDerived:)")
  public init(
    _ name: String, _ quantity: Quantity?, _ unit: MeasurementUnit? = nil, number: Double?, isDerived: Bool = false
  ) { self.init(name, quantity: quantity, unit: unit, number: number, isDerived: isDerived) }
}
