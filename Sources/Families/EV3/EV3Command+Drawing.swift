// SPDX-License-Identifier: Apache-2.0

// Commands for the display, which has 178 × 128 points. Coordinates count from the upper left corner. Drawings become
// visible with `updateDisplay`.

/// A point of the display. A point outside of the display is allowed, and isn't visible.
public struct EV3Point: Sendable, Hashable {
  /// Points from the left edge.
  public var x: Int
  /// Points from the upper edge.
  public var y: Int

  /// A point.
  public init(_ x: Int, _ y: Int) {
    self.x = x
    self.y = y
  }
}

private let coordinate = -32_767...32_767

private func at(_ point: EV3Point) -> [EV3Argument] {
  [.checked("x", point.x, coordinate), .checked("y", point.y, coordinate)]
}

private func size(_ width: Int, _ height: Int) -> [EV3Argument] {
  [.checked("width", width, 0...32_767), .checked("height", height, 0...32_767)]
}

extension EV3Command where Reply == Void {
  private static func draw(_ subcode: UInt8, _ ink: EV3Ink? = nil, _ arguments: [EV3Argument] = []) -> Self {
    let ink = ink.map { [EV3Argument.number(Int($0.rawValue))] } ?? []
    return Self([EV3Step(0x84, subcode, ink + arguments)]) { _ in }
  }

  /// Shows what was drawn.
  public static var updateDisplay: Self { draw(0) }
  /// Makes the whole display white.
  public static var cleanDisplay: Self { draw(1) }

  /// Draws a point.
  public static func drawPoint(_ point: EV3Point, _ ink: EV3Ink = .black) -> Self { draw(2, ink, at(point)) }

  /// Draws a line from one point to another.
  public static func drawLine(from start: EV3Point, to end: EV3Point, _ ink: EV3Ink = .black) -> Self {
    draw(3, ink, at(start) + at(end))
  }

  /// Draws a dashed line: each dash is `on` points long, with `off` points between two dashes.
  public static func drawDottedLine(
    from start: EV3Point, to end: EV3Point, on: Int, off: Int, _ ink: EV3Ink = .black
  ) -> Self {
    draw(21, ink, at(start) + at(end) + [.checked("on", on, 0...32_767), .checked("off", off, 0...32_767)])
  }

  /// Draws a circle.
  public static func drawCircle(
    around center: EV3Point, radius: Int, isFilled: Bool = false, _ ink: EV3Ink = .black
  ) -> Self {
    draw(isFilled ? 24 : 4, ink, at(center) + [.checked("radius", radius, 0...32_767)])
  }

  /// Draws a rectangle.
  public static func drawRectangle(
    at corner: EV3Point, width: Int, height: Int, isFilled: Bool = false, _ ink: EV3Ink = .black
  ) -> Self {
    draw(isFilled ? 9 : 10, ink, at(corner) + size(width, height))
  }

  /// Inverts a rectangle: black becomes white, and white becomes black.
  public static func invertRectangle(at corner: EV3Point, width: Int, height: Int) -> Self {
    draw(16, nil, at(corner) + size(width, height))
  }

  /// Fills the whole width of the display, from line `y` on, over `height` lines. If both are 0, it fills the whole
  /// display.
  public static func fillWindow(y: Int, height: Int, _ ink: EV3Ink = .black) -> Self {
    draw(19, ink, [.checked("y", y, coordinate), .checked("height", height, 0...32_767)])
  }

  /// Draws a text in the selected font.
  public static func drawText(_ text: String, at point: EV3Point, _ ink: EV3Ink = .black) -> Self {
    draw(5, ink, at(point) + [.text(text, limit: EV3Limits.path)])
  }

  /// Selects the font of texts: 0 small, 1 bold, 2 large.
  public static func selectFont(_ font: Int) -> Self { draw(17, nil, [.checked("font", font, 0...2)]) }

  /// Draws one of the firmware's icons.
  public static func drawIcon(type: Int, number: Int, at point: EV3Point, _ ink: EV3Ink = .black) -> Self {
    draw(6, ink, at(point) + [.checked("type", type, 0...127), .checked("number", number, 0...127)])
  }

  /// Draws a picture from a file with the ending `.rgf`.
  public static func drawPicture(_ path: String, at point: EV3Point, _ ink: EV3Ink = .black) -> Self {
    draw(28, ink, at(point) + [.text(path, limit: EV3Limits.path)])
  }

  /// Shows or hides the line with the brick's name and battery.
  public static func showTopLine(_ isShown: Bool) -> Self { draw(18, nil, [.number(isShown ? 1 : 0)]) }

  /// Stores the contents of the display under a number.
  public static func storeDisplay(_ number: Int) -> Self { draw(25, nil, [.checked("number", number, 0...127)]) }

  /// Restores the contents that were stored under a number.
  public static func restoreDisplay(_ number: Int) -> Self { draw(26, nil, [.checked("number", number, 0...127)]) }
}
