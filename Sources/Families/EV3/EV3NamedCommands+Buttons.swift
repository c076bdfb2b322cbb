// SPDX-License-Identifier: Apache-2.0

// Commands for buttons and sounds.

extension EV3NamedCommand {
  static let buttons: [EV3NamedCommand] = [
    EV3NamedCommand("button-pressed", "Whether a button is pressed", 0x83, 9, [.button], [.flag]),
    EV3NamedCommand("button-short", "Whether a button was pressed for a short time", 0x83, 1, [.button], [.flag]),
    EV3NamedCommand("button-long", "Whether a button was pressed for a long time", 0x83, 2, [.button], [.flag]),
    EV3NamedCommand("button-bumped", "Whether a button was pressed and released", 0x83, 14, [.button], [.flag]),
    EV3NamedCommand("button-click", "Whether any button was clicked", 0x83, 15, [], [.flag]),
    EV3NamedCommand("button-horizontal", "Presses of right and left", 0x83, 7, [], [.whole("direction")]),
    EV3NamedCommand("button-vertical", "Presses of down and up", 0x83, 8, [], [.whole("direction")]),
    EV3NamedCommand("button-press", "Presses a button", 0x83, 5, [.button]),
    EV3NamedCommand("button-release", "Releases a button", 0x83, 6, [.button]),
    EV3NamedCommand("button-wait", "Waits until a button is pressed", 0x83, 3, isWaiting: true),
    EV3NamedCommand("button-flush", "Discards presses that were not read", 0x83, 4),
    EV3NamedCommand("back-blocked", "Whether the back button is kept from ending the program", 0x83, 11, [], [.flag]),
    EV3NamedCommand("back-block", "Keeps the back button from ending the program", 0x83, 10, [.flag("blocked")]),
  ]

  static let sounds: [EV3NamedCommand] = [
    EV3NamedCommand(
      "tone", "Plays a tone", 0x94, 1,
      [.volume, .whole("frequency", 250...10_000, "Hz"), .whole("duration", 0...32_767, "ms")]),
    EV3NamedCommand("play", "Plays a sound file, named without .rsf", 0x94, 2, [.volume.last, .path]),
    EV3NamedCommand("play-repeat", "Plays a sound file again and again", 0x94, 3, [.volume.last, .path]),
    EV3NamedCommand("sound-stop", "Stops the sound", 0x94, 0),
    EV3NamedCommand("sound-wait", "Waits until the sound has ended", 0x96, isWaiting: true),
    EV3NamedCommand("sound-busy", "Whether a sound is playing", 0x95, nil, [], [.flag]),
  ]
}
