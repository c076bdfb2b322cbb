// SPDX-License-Identifier: Apache-2.0

/// The lines that a program printed, or the rows of a screen. A line that isn't there is empty: an expectation about the second line
/// of a program that printed one fails, and the other tests of the process go on.
public struct Lines: RandomAccessCollection, Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
  private let all: [String]

  /// These lines.
  public init(_ all: [String]) { self.all = all }
  /// These lines.
  public init(arrayLiteral elements: String...) { all = elements }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of lines.
  public var endIndex: Int { all.count }
  /// As an array of texts is printed.
  public var description: String { "\(all)" }

  /// The line at `place`; "" where there are fewer.
  public subscript(place: Int) -> String { all.indices.contains(place) ? all[place] : "" }
  /// The lines of `range`, as far as there are any.
  public subscript(range: Range<Int>) -> ArraySlice<String> { all[range.clamped(to: all.indices)] }

  /// Whether these are the lines.
  public static func == (lines: Lines, texts: [String]) -> Bool { lines.all == texts }
  /// These lines and more.
  public static func + (lines: Lines, more: [String]) -> [String] { lines.all + more }
}
