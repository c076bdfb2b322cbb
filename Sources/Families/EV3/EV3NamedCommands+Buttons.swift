// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// Commands for buttons and sounds.

extension EV3NamedCommand {
  private static func flag(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument],
    _ make: @escaping @Sendable (CommandCall) -> EV3Command<Bool>
  ) -> EV3NamedCommand {
    EV3NamedCommand(name, summary, arguments, results: [.init("is")], make, { [.flag($0)] })
  }

  static let buttons: [EV3NamedCommand] = [
    flag("button-pressed", "Whether a button is pressed", [.button]) { .isPressed($0.button) },
    flag("button-short", "Whether a button was pressed for a short time", [.button]) { .wasPressedShortly($0.button) },
    flag("button-long", "Whether a button was pressed for a long time", [.button]) { .wasPressedLong($0.button) },
    flag("button-bumped", "Whether a button was pressed and released", [.button]) { .wasBumped($0.button) },
    flag("button-click", "Whether any button was clicked", []) { _ in .wasClicked },
    EV3NamedCommand(
      "button-horizontal", "Presses of right and left", results: [.init("direction")], { _ in .horizontalButtons },
      { [.whole($0)] }),
    EV3NamedCommand(
      "button-vertical", "Presses of down and up", results: [.init("direction")], { _ in .verticalButtons },
      { [.whole($0)] }),
    EV3NamedCommand("button-press", "Presses a button", [.button]) { .press($0.button) },
    EV3NamedCommand("button-release", "Releases a button", [.button]) { .release($0.button) },
    EV3NamedCommand("button-wait", "Waits until a button is pressed") { _ in .waitForPress },
    EV3NamedCommand("button-flush", "Discards presses that were not read") { _ in .flushButtons },
    flag("back-blocked", "Whether the back button is kept from ending the program", []) { _ in .isBackButtonBlocked },
    EV3NamedCommand(
      "back-block", "Keeps the back button from ending the program", [.init("blocked", .flag)]
    ) { .blockBackButton($0.flag("blocked")) },
  ]

  static let sounds: [EV3NamedCommand] = [
    EV3NamedCommand(
      "tone", "Plays a tone",
      [
        .volume, .init("frequency", .whole(250...10_000), unit: "Hz"),
        .init("duration", .whole(0...32_767), unit: "ms"),
      ]
    ) {
      .tone(volume: $0.whole("volume"), frequency: $0.whole("frequency"), duration: .milliseconds($0.whole("duration")))
    },
    EV3NamedCommand("play", "Plays a sound file, named without .rsf", [.path, .volume]) {
      .playSound($0.text("path"), volume: $0.whole("volume"))
    },
    EV3NamedCommand("play-repeat", "Plays a sound file again and again", [.path, .volume]) {
      .repeatSound($0.text("path"), volume: $0.whole("volume"))
    },
    EV3NamedCommand("sound-stop", "Stops the sound") { _ in .stopSound },
    EV3NamedCommand("sound-wait", "Waits until the sound has ended") { _ in .soundReady },
    flag("sound-busy", "Whether a sound is playing", []) { _ in .isSounding },
  ]
}
