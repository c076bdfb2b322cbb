// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// Several accessories on one line, each a unit with a number of its own, by which frames say which one is meant.
  ///
  /// The number stands in an element of the frames. What is sent there may be more than the unit's number, and something
  /// else in each direction: a host calls Daly's first board 0x40, and the board calls itself 1.
  public struct Units: Sendable, Hashable {
    /// The element of the frames that has the number. Every framing has one of this name.
    public var element: String
    /// The units that there may be; at most `Limit.units`.
    public var range: ClosedRange<Int>
    /// The units that a search asks.
    public var scan: ClosedRange<Int>
    /// The unit that is meant where none is named.
    public var standard: Int
    /// What is added to a unit's number in a request to it.
    public var sent = 0
    /// What is added to it in what the unit sends.
    public var received = 0

    /// Units of these numbers, of which the first is the one that is meant where none is named. A search asks all.
    public init(_ element: String, _ range: ClosedRange<Int>) {
      (self.element, self.range, scan, standard) = (element, range, range, range.lowerBound)
    }
  }

  /// The place of the element that has the unit's number, in frames of a framing; nil where there is none.
  public func unitElement(of framing: Int) -> Int? {
    guard let units, framings.indices.contains(framing) else { return nil }
    return switch framings[framing].form {
    case .layout(let elements), .hexadecimal(let elements, _): elements.firstIndex { $0.name == units.element }
    case .window, .pairs: nil
    }
  }
}
