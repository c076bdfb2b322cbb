// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

// Commands for the display.

extension EV3NamedCommand {
  static let drawing: [EV3NamedCommand] = [
    EV3NamedCommand("draw-update", "Shows what was drawn") { _ in .updateDisplay },
    EV3NamedCommand("draw-clean", "Makes the display white") { _ in .cleanDisplay },
    EV3NamedCommand("draw-point", "Draws a point", [.coordinate("x"), .coordinate("y"), .ink]) {
      .drawPoint($0.point(), $0.ink)
    },
    EV3NamedCommand(
      "draw-line", "Draws a line", [.coordinate("x"), .coordinate("y"), .coordinate("x2"), .coordinate("y2"), .ink]
    ) { .drawLine(from: $0.point(), to: $0.point("x2", "y2"), $0.ink) },
    EV3NamedCommand(
      "draw-dotted-line", "Draws a line of dots",
      [.coordinate("x"), .coordinate("y"), .coordinate("x2"), .coordinate("y2"), .extent("on"), .extent("off"), .ink]
    ) {
      .drawDottedLine(
        from: $0.point(), to: $0.point("x2", "y2"), on: $0.whole("on"), off: $0.whole("off"), $0.ink)
    },
    EV3NamedCommand(
      "draw-circle", "Draws a circle",
      [.coordinate("x"), .coordinate("y"), .extent("radius"), .init("filled", .flag, defaultValue: .flag(false)), .ink]
    ) { .drawCircle(around: $0.point(), radius: $0.whole("radius"), isFilled: $0.flag("filled"), $0.ink) },
    EV3NamedCommand(
      "draw-rectangle", "Draws a rectangle",
      [
        .coordinate("x"), .coordinate("y"), .extent("width"), .extent("height"),
        .init("filled", .flag, defaultValue: .flag(false)), .ink,
      ]
    ) {
      .drawRectangle(
        at: $0.point(), width: $0.whole("width"), height: $0.whole("height"), isFilled: $0.flag("filled"), $0.ink)
    },
    EV3NamedCommand(
      "draw-invert", "Inverts black and white",
      [.coordinate("x"), .coordinate("y"), .extent("width"), .extent("height")]
    ) { .invertRectangle(at: $0.point(), width: $0.whole("width"), height: $0.whole("height")) },
    EV3NamedCommand("draw-fill", "Fills lines of the display", [.coordinate("y"), .extent("height"), .ink]) {
      .fillWindow(y: $0.whole("y"), height: $0.whole("height"), $0.ink)
    },
    EV3NamedCommand(
      "draw-text", "Draws a text", [.coordinate("x"), .coordinate("y"), .init("text", .text(EV3Limits.path)), .ink]
    ) { .drawText($0.text("text"), at: $0.point(), $0.ink) },
    EV3NamedCommand("draw-font", "Chooses the font: 0 small, 1 bold, 2 large", [.init("font", .whole(0...2))]) {
      .selectFont($0.whole("font"))
    },
    EV3NamedCommand(
      "draw-icon", "Draws one of the firmware's icons",
      [
        .coordinate("x"), .coordinate("y"), .init("type", .whole(0...127)), .init("number", .whole(0...127)), .ink,
      ]
    ) { .drawIcon(type: $0.whole("type"), number: $0.whole("number"), at: $0.point(), $0.ink) },
    EV3NamedCommand("draw-picture", "Draws a picture from a file", [.coordinate("x"), .coordinate("y"), .path, .ink]) {
      .drawPicture($0.text("path"), at: $0.point(), $0.ink)
    },
    EV3NamedCommand(
      "draw-top-line", "Shows or hides the line with name and battery", [.init("shown", .flag)]
    ) { .showTopLine($0.flag("shown")) },
    EV3NamedCommand("draw-store", "Stores the drawing", [.init("number", .whole(0...127))]) {
      .storeDisplay($0.whole("number"))
    },
    EV3NamedCommand("draw-restore", "Restores the stored drawing", [.init("number", .whole(0...127))]) {
      .restoreDisplay($0.whole("number"))
    },
  ]
}
