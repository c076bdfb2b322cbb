// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// Several accessories on one line. Each is a unit with a number of its own, and frames say by that number which unit
  /// they are for or from.
  ///
  /// The number is in an element of the frames. The number that is sent may be the unit's number plus a constant, and
  /// the constant may differ in each direction: a host calls Daly's first board 0x40, and the board calls itself 1.
  public struct Units: Sendable, Hashable {
    /// The name of the element that has the number. Every framing has an element of this name.
    public var element: String
    /// The possible units; at most `Limit.units`.
    public var range: ClosedRange<Int>
    /// The units that a search addresses.
    public var scan: ClosedRange<Int>
    /// The unit that is used where none is given.
    public var defaultUnit: Int
    /// What is added to a unit's number in requests to it.
    public var sentOffset = 0
    /// What is added to a unit's number in frames from it.
    public var receivedOffset = 0

    /// Units with these numbers. The first is the default one, and a search addresses all.
    public init(_ element: String, _ range: ClosedRange<Int>) {
      (self.element, self.range, scan, defaultUnit) = (element, range, range, range.lowerBound)
    }
  }

  /// The index of the element that has the unit's number, in frames of this framing; nil where there is none.
  public func unitElement(of framing: Int) -> Int? {
    guard let units, framings.indices.contains(framing) else { return nil }
    return switch framings[framing].form {
    case .layout(let elements), .hexadecimal(let elements, _): elements.firstIndex { $0.name == units.element }
    case .window, .pairs: nil
    }
  }
}
