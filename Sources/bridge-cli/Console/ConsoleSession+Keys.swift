// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console
import Glibc

// The handling of keys.

extension ConsoleSession {
  func typed(_ bytes: [UInt8]) async throws -> Bool {
    if bytes.isEmpty { return true }
    typedCount += 1
    var keys: [UInt8] = []
    for byte in bytes {
      if isPrefixed {
        isPrefixed = false
        try await change(byte)
      } else if byte == Self.exitKey {
        try take(keys)
        return true
      } else if byte == Self.prefixKey {
        try take(keys)
        keys = []
        isPrefixed = true
      } else {
        keys.append(byte)
      }
    }
    try take(keys)
    let count = typedCount
    if decoder.isPending { after(Self.escapeTime) { .keysPaused(count) } }
    return false
  }

  func take(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    if settings.input == .raw, baudEditor == nil { return try send(bytes) }
    var keys: [Key] = []
    decoder.decode(bytes, into: &keys)
    try press(keys)
  }

  func press(_ keys: [Key]) throws {
    for key in keys {
      if baudEditor != nil {
        pressForBaud(key)
      } else if settings.input == .raw {
        // Keys pasted after the baud rate were decoded as keys of a line; raw input has no line, so they are dropped.
        continue
      } else if settings.input == .keys {
        guard let (what, bytes) = robot?.bytes(for: key) else { continue }
        lastKey = what
        try send(bytes)
      } else {
        switch editor.handle(key) {
        case .changed, .nothing: break
        case .submitted(let line): try submit(line)
        case .control(let byte):
          sent("^" + String(Unicode.Scalar(byte | 0x40)))
          try send([byte])
        }
      }
    }
    showInput()
  }

  func submit(_ line: String) throws {
    var bytes = Array(line.utf8)
    if settings.input == .hex {
      guard let parsed = Hex.bytes(line) else {
        return note("not hexadecimal: type two digits for each byte, like 68 65 6c 6c 6f")
      }
      bytes = parsed
    } else {
      bytes += settings.eol.bytes
    }
    sent(SafeText.escape(line, limit: LineEditor.longestLine))
    try send(bytes)
  }

  // MARK: - Changes

  func change(_ byte: UInt8) async throws {
    switch Unicode.Scalar(byte) {
    case "?", "h": for line in help { note(line, indent: line.hasPrefix("Ctrl-") ? 10 : 0) }
    case "d":
      let views: [ConsoleView] = [.text, .frames, .hex]
      let next = views[((views.firstIndex(of: received.view) ?? -1) + 1) % views.count]
      show(received.change(to: next))
      note("received bytes are shown as \(next.rawValue)")
    case "t":
      settings.hasTimestamps.toggle()
      note("times are \(settings.hasTimestamps ? "shown" : "not shown")")
    case "e":
      let all = LineEnding.allCases
      settings.eol = all[((all.firstIndex(of: settings.eol) ?? 0) + 1) % all.count]
      note("sent lines end with \(settings.eol.rawValue)")
    case "b": work(on: .sendBreak)
    case "D": work(on: .toggle(.dtr))
    case "R": work(on: .toggle(.rts))
    case "L": work(on: .show)
    case "n": askBaud()
    case "l": show { $0.clear() }
    case "r": try await change(to: settings.input == .raw ? .line : .raw)
    case "x": try await change(to: settings.input == .hex ? .line : .hex)
    case "k": try await change(to: settings.input == .keys ? .line : .keys)
    case "z": kill(getpid(), SIGTSTP)
    case "q": happened.yield(.typed([Self.exitKey]))
    case Unicode.Scalar(Self.prefixKey): try take(settings.input == .raw ? [byte] : [])
    default: note("Ctrl-T with this key is not a command: Ctrl-T ? lists the commands")
    }
    showInput()
  }

  func change(to input: ConsoleInput) async throws {
    if input == .keys, robot == nil {
      do throws(AccessoryError) {
        robot = try await RobotKeys(for: driver)
      } catch {
        return note(SafeText.escape(error.message, limit: 500))
      }
    }
    settings.input = input
    lastKey = ""
    switch input {
    case .line: note("Enter sends the line")
    case .raw: note("each key is sent at once")
    case .hex: note("type hexadecimal; Enter sends its bytes")
    case .keys: note(SafeText.escape(robot?.summary ?? "", limit: 800))
    }
  }

  var help: [String] {
    [
      "Ctrl-]    ends the console", "Ctrl-T d  shows received bytes as text, frames or hex",
      "Ctrl-T t  shows or hides times",
      "Ctrl-T e  changes the end of sent lines: none, lf, cr, crlf",
      "Ctrl-T r  sends each key at once; again: lines", "Ctrl-T x  sends hexadecimal; again: lines",
      "Ctrl-T k  drives a robot or a car: arrows, space, F1 to F4, digits; again: lines",
      "Ctrl-T b  sends a break", "Ctrl-T D  raises or lowers DTR; Ctrl-T R does so with RTS",
      "Ctrl-T L  shows the line's settings and its modem lines", "Ctrl-T n  asks for another baud rate",
      "Ctrl-T l  clears the screen",
      "Ctrl-T z  stops the console; fg continues", "Ctrl-T Ctrl-T  sends a Ctrl-T, if each key is sent at once",
      "In a line: arrows, Home, End, Ctrl-A, -E, -U, -K, -W; up and down bring earlier lines; Ctrl-C deletes the line",
    ]
  }
}
