// SPDX-License-Identifier: Apache-2.0

// Commands for the brick itself: power, versions, name, light, buttons, sound, programs. The opcodes are those of
// LEGO's bytecodes.h.

private func asking<Reply>(
  _ opcode: UInt8, _ subcode: UInt8?, _ arguments: EV3Argument..., read: @escaping @Sendable (EV3Results) -> Reply
) -> EV3Command<Reply> {
  EV3Command([EV3Step(opcode, subcode, arguments)], read: read)
}

private func doing(_ opcode: UInt8, _ subcode: UInt8?, _ arguments: EV3Argument...) -> EV3Command<Void> {
  EV3Command([EV3Step(opcode, subcode, arguments)]) { _ in }
}

/// The size of a text result, in bytes.
private let textSize = 64

extension EV3Command where Reply == Void {
  /// Does nothing.
  public static var nothing: Self { doing(0x01, nil) }
  /// An invalid instruction: the brick replies with an error.
  public static var error: Self { doing(0x00, nil) }

  /// Sets the brick's name. LEGO's programs show up to 12 bytes of it; the firmware keeps 24.
  public static func setBrickName(_ name: String) -> Self { doing(0xD4, 8, .text(name, limit: 24)) }

  /// Sets the light of the buttons.
  public static func setLED(_ pattern: EV3LED) -> Self { doing(0x82, 27, .number(Int(pattern.rawValue))) }

  /// Sets the volume, 0…100 percent.
  public static func setVolume(_ percent: Int) -> Self { doing(0x7C, 5, .checked("volume", percent, 0...100)) }

  /// Sets the minutes after which the brick switches itself off, 0…120; 0 is never.
  public static func setSleepMinutes(_ minutes: Int) -> Self {
    doing(0x7C, 7, .checked("minutes", minutes, 0...120))
  }

  // MARK: - Buttons

  /// Discards presses that have not been asked for.
  public static var flushButtons: Self { doing(0x83, 4) }
  /// Simulates that a button is pressed.
  public static func press(_ button: EV3Button) -> Self { doing(0x83, 5, .number(Int(button.rawValue))) }
  /// Simulates that a button is released.
  public static func release(_ button: EV3Button) -> Self { doing(0x83, 6, .number(Int(button.rawValue))) }
  /// Waits until a button is pressed.
  public static var waitForPress: Self { Self([EV3Step(0x83, 3)], isWaiting: true) { _ in } }
  /// Sets whether the back button is kept from ending the program.
  public static func blockBackButton(_ isBlocked: Bool) -> Self { doing(0x83, 10, .number(isBlocked ? 1 : 0)) }

  // MARK: - Sound

  /// Plays a tone of `frequency` hertz, 250…10000, for `duration`, up to 32.767 s, at `volume` percent.
  public static func tone(volume: Int, frequency: Int, duration: Duration) -> Self {
    doing(
      0x94, 1, .checked("volume", volume, 0...100), .checked("frequency", frequency, 250...10_000),
      .time("duration", duration, 0...32_767))
  }

  /// Plays a sound file, whose path is given without its ending `.rsf`, relative to the brick's `sys` folder, at
  /// `volume` percent.
  public static func playSound(_ path: String, volume: Int) -> Self {
    doing(0x94, 2, .checked("volume", volume, 0...100), .text(path, limit: EV3Limits.path))
  }

  /// Plays a sound file again and again until `stopSound`. For the parameters see `playSound`.
  public static func repeatSound(_ path: String, volume: Int) -> Self {
    doing(0x94, 3, .checked("volume", volume, 0...100), .text(path, limit: EV3Limits.path))
  }

  /// Ends the sound that is playing.
  public static var stopSound: Self { doing(0x94, 0) }
  /// Waits until no sound is playing.
  public static var soundReady: Self { Self([EV3Step(0x96)], isWaiting: true) { _ in } }

  /// Waits for `duration`, in whole milliseconds, up to an hour.
  public static func wait(_ duration: Duration) -> Self {
    Self(
      [
        EV3Step(0x85, nil, .time("time", duration, 0...3_600_000), .local(0)),
        EV3Step(0x86, nil, .local(0)),
      ], localByteCount: 4, isWaiting: true
    ) { _ in }
  }

  // MARK: - Programs

  /// Loads the program with this path and starts it.
  public static func startProgram(_ path: String, debug: Bool = false) -> Self {
    Self(
      [
        EV3Step(
          0xC0, 8, .number(Int(EV3Slot.user.rawValue)), .text(path, limit: EV3Limits.path), .local(0), .local(4)),
        EV3Step(0x03, nil, .number(Int(EV3Slot.user.rawValue)), .local(0), .local(4), .number(debug ? 1 : 0)),
      ], localByteCount: 8
    ) { _ in }
  }

  /// Ends the program in a slot.
  public static func stopProgram(_ slot: EV3Slot = .user) -> Self { doing(0x02, nil, .number(Int(slot.rawValue))) }
}

extension EV3Limits {
  /// The longest path that is sent, in bytes. The firmware refuses names that are longer than 84 bytes, with their
  /// folders.
  public static let path = 255
}

extension EV3Command where Reply == Int {
  /// The battery's charge in percent, 0…100.
  public static var batteryPercent: Self { asking(0x81, 18, .result(.int8)) { $0.number(0) } }
  /// The volume in percent.
  public static var volume: Self { asking(0x7C, 4, .result(.int8)) { $0.number(0) } }
  /// Minutes after which the brick switches itself off; 0 is never.
  public static var sleepMinutes: Self { asking(0x7C, 6, .result(.int8)) { Int($0.byte(0)) } }
  /// Presses of left and right: −1, 0 or 1.
  public static var horizontalButtons: Self { asking(0x83, 7, .result(.int16)) { $0.number(0) } }
  /// Presses of up and down: −1, 0 or 1.
  public static var verticalButtons: Self { asking(0x83, 8, .result(.int16)) { $0.number(0) } }
  /// Keeps the brick from switching itself off; returns the minutes that are left.
  public static var keepAlive: Self { asking(0x90, nil, .result(.int8)) { Int($0.byte(0)) } }
  /// How many folders are in a folder.
  public static func folderCount(_ path: String) -> Self {
    asking(0xC0, 13, .text(path, limit: EV3Limits.path), .result(.int8)) { Int($0.byte(0)) }
  }
}

extension EV3Command where Reply == Float {
  /// The battery's voltage, in volts.
  public static var batteryVoltage: Self { asking(0x81, 1, .result(.float)) { $0.float(0) } }
  /// The current that the battery supplies, in amperes.
  public static var batteryCurrent: Self { asking(0x81, 2, .result(.float)) { $0.float(0) } }
  /// The rise of the battery's temperature, in degrees Celsius.
  public static var batteryTemperatureRise: Self { asking(0x81, 5, .result(.float)) { $0.float(0) } }
  /// The current that the motors take, in amperes.
  public static var motorCurrent: Self { asking(0x81, 7, .result(.float)) { $0.float(0) } }
}

extension EV3Command where Reply == EV3Power {
  /// The voltage and all currents in one command.
  public static var power: Self {
    asking(0x81, 29, .result(.float), .result(.float), .result(.float), .result(.float)) {
      EV3Power(volts: $0.float(0), amperes: $0.float(1), internalAmperes: $0.float(2), motorAmperes: $0.float(3))
    }
  }
}

extension EV3Command where Reply == EV3Warnings {
  /// The brick's warnings.
  public static var warnings: Self { asking(0x81, 17, .result(.int8)) { EV3Warnings(rawValue: $0.byte(0)) } }
}

extension EV3Command where Reply == EV3Memory {
  /// The size of the brick's memory, and how much of it is free.
  public static var memory: Self {
    asking(0xC5, nil, .result(.int32), .result(.int32)) { EV3Memory(total: $0.number(0), free: $0.number(1)) }
  }
}

extension EV3Command where Reply == EV3Memory? {
  /// The size of the memory card, and how much of it is free; nil without a card.
  public static var card: Self {
    asking(0x81, 30, .result(.int8), .result(.int32), .result(.int32)) { results in
      results.flag(0) ? EV3Memory(total: results.number(1), free: results.number(2)) : nil
    }
  }
}

extension EV3Command where Reply == String {
  private static func text(_ subcode: UInt8, size: Int) -> Self {
    asking(0x81, subcode, .number(size), .bytes(size)) { $0.text(0) }
  }

  /// The firmware's version: "V1.09H".
  public static var firmwareVersion: Self { text(10, size: 16) }
  /// When the firmware was built.
  public static var firmwareBuild: Self { text(11, size: 16) }
  /// The hardware's version: "V0.60".
  public static var hardwareVersion: Self { text(9, size: 16) }
  /// The operating system's version.
  public static var osVersion: Self { text(3, size: 16) }
  /// When the operating system was built.
  public static var osBuild: Self { text(12, size: 16) }
  /// All versions in one line.
  public static var version: Self { text(26, size: textSize) }

  /// The name that the user gave the brick.
  public static var brickName: Self { asking(0xD3, 13, .number(32), .bytes(32)) { $0.text(0) } }
}

extension EV3Command where Reply == Bool {
  private static func button(_ subcode: UInt8, _ button: EV3Button) -> Self {
    asking(0x83, subcode, .number(Int(button.rawValue)), .result(.int8)) { $0.flag(0) }
  }

  /// Whether a button is pressed now.
  public static func isPressed(_ button: EV3Button) -> Self { Self.button(9, button) }
  /// Whether a button was pressed for a short time since the last such command.
  public static func wasPressedShortly(_ button: EV3Button) -> Self { Self.button(1, button) }
  /// Whether a button was pressed for a long time since the last such command.
  public static func wasPressedLong(_ button: EV3Button) -> Self { Self.button(2, button) }
  /// Whether a button was pressed and released since the last such command.
  public static func wasBumped(_ button: EV3Button) -> Self { Self.button(14, button) }
  /// Whether any button was clicked since the last such command.
  public static var wasClicked: Self { asking(0x83, 15, .result(.int8)) { $0.flag(0) } }
  /// Whether the back button is kept from ending the program.
  public static var isBackButtonBlocked: Self { asking(0x83, 11, .result(.int8)) { $0.flag(0) } }
  /// Whether a sound is playing.
  public static var isSounding: Self { asking(0x95, nil, .result(.int8)) { $0.flag(0) } }
}
