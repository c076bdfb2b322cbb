// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

// Commands for the display.

extension EV3NamedCommand {
  /// A figure that is drawn by one instruction, and filled by another one.
  private static func figure(
    _ name: String, _ summary: String, _ outline: UInt8, _ filled: UInt8, _ extents: [EV3NamedParameter]
  ) -> EV3NamedCommand {
    let given = EV3NamedParameter.point + extents
    let parameters: [EV3NamedParameter] = [.ink] + given
    let isFilled = EV3NamedParameter.flag("filled", standard: false)
    let arguments = (given + [isFilled, .ink]).compactMap(\.argument)
    return EV3NamedCommand(
      name, summary, arguments,
      { call in
        EV3Command<Void>(
          [EV3Step(0x84, call.flag("filled") ? filled : outline, parameters.map { $0.value(call) })]) { _ in }
      })
  }

  static let drawing: [EV3NamedCommand] = [
    EV3NamedCommand("draw-update", "Shows what was drawn", 0x84, 0),
    EV3NamedCommand("draw-clean", "Makes the display white", 0x84, 1),
    EV3NamedCommand("draw-point", "Draws a point", 0x84, 2, [.ink] + EV3NamedParameter.point),
    EV3NamedCommand(
      "draw-line", "Draws a line", 0x84, 3,
      [.ink] + EV3NamedParameter.point + [.coordinate("x2"), .coordinate("y2")]),
    EV3NamedCommand(
      "draw-dotted-line", "Draws a line of dots", 0x84, 21,
      [.ink] + EV3NamedParameter.point + [.coordinate("x2"), .coordinate("y2"), .extent("on"), .extent("off")]),
    figure("draw-circle", "Draws a circle", 4, 24, [.extent("radius")]),
    figure("draw-rectangle", "Draws a rectangle", 10, 9, [.extent("width"), .extent("height")]),
    EV3NamedCommand(
      "draw-invert", "Inverts black and white", 0x84, 16,
      EV3NamedParameter.point + [.extent("width"), .extent("height")]),
    EV3NamedCommand(
      "draw-fill", "Fills lines of the display", 0x84, 19, [.ink, .coordinate("y"), .extent("height")]),
    EV3NamedCommand(
      "draw-text", "Draws a text", 0x84, 5, [.ink] + EV3NamedParameter.point + [.text("text", EV3Limits.path)]),
    EV3NamedCommand("draw-font", "Chooses the font: 0 small, 1 bold, 2 large", 0x84, 17, [.whole("font", 0...2)]),
    EV3NamedCommand(
      "draw-icon", "Draws one of the firmware's icons", 0x84, 6,
      [.ink] + EV3NamedParameter.point + [.whole("type", 0...127), .number]),
    EV3NamedCommand(
      "draw-picture", "Draws a picture from a file", 0x84, 28, [.ink] + EV3NamedParameter.point + [.path]),
    EV3NamedCommand("draw-top-line", "Shows or hides the line with name and battery", 0x84, 18, [.flag("shown")]),
    EV3NamedCommand("draw-store", "Stores the drawing", 0x84, 25, [.number]),
    EV3NamedCommand("draw-restore", "Restores the stored drawing", 0x84, 26, [.number]),
  ]
}
