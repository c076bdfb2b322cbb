// SPDX-License-Identifier: Apache-2.0

/// How a character on the screen looks.
package struct CellStyle: Hashable, Sendable {
  /// The colour of a character. The raw values are those of SGR sequences; `plain` is the terminal's own.
  package enum Colour: UInt8, Hashable, Sendable {
    case plain = 39
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case cyan = 36
  }

  package var colour = Colour.plain
  package var isBold = false
  package var isDim = false
  /// The colours of the character and of its background are exchanged.
  package var isInverse = false

  package init(_ colour: Colour = .plain, bold: Bool = false, dim: Bool = false, inverse: Bool = false) {
    (self.colour, isBold, isDim, isInverse) = (colour, bold, dim, inverse)
  }

  package static let plain = CellStyle()
  package static let bold = CellStyle(bold: true)
  package static let dim = CellStyle(dim: true)
  package static let inverse = CellStyle(inverse: true)

  /// The parameters of the SGR sequence that selects this style, whatever was selected before. Without colour only inverse
  /// remains (no-color.org).
  package func parameters(hasColour: Bool) -> String {
    guard hasColour else { return isInverse ? "0;7" : "0" }
    var codes = "0"
    if isBold { codes += ";1" }
    if isDim { codes += ";2" }
    if isInverse { codes += ";7" }
    if colour != .plain { codes += ";\(colour.rawValue)" }
    return codes
  }
}

/// Text of one style.
package struct StyledText: Hashable, Sendable, ExpressibleByStringLiteral {
  package var text: String
  package var style: CellStyle

  package init(_ text: String, _ style: CellStyle = .plain) { (self.text, self.style) = (text, style) }

  /// A text without a style.
  package init(stringLiteral text: String) { self.init(text) }
}
