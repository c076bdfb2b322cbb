// SPDX-License-Identifier: Apache-2.0

// How an option is written: its name, what its value is called, its help, and the property that it sets.

extension CommandOption where Settings: CommandSettings {
  /// A property that an option sets.
  package typealias Path<Value> = WritableKeyPath<Settings, Value> & Sendable

  /// A flag, which sets a property to this.
  package static func flag(_ name: String, _ help: String, _ path: Path<Bool>, to isSet: Bool = true) -> Self {
    Self(name, nil, help, .flag) { settings, _ in settings[keyPath: path] = isSet }
  }

  /// A whole number.
  package static func whole<Number: FixedWidthInteger & SendableMetatype>(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Number>, _ range: ClosedRange<Int>,
    unit: String = ""
  ) -> Self {
    let standard = Int(clamping: Settings()[keyPath: path])
    return Self(name, valueName, help, .whole(range, unit: unit, standard: standard)) { settings, value in
      if case .whole(let number) = value { settings[keyPath: path] = Number(clamping: number) }
    }
  }

  /// A whole number, or none.
  package static func whole<Number: FixedWidthInteger & SendableMetatype>(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Number?>, _ range: ClosedRange<Int>,
    unit: String = ""
  ) -> Self {
    Self(name, valueName, help, .whole(range, unit: unit, standard: nil)) { settings, value in
      if case .whole(let number) = value { settings[keyPath: path] = Number(clamping: number) }
    }
  }

  /// Any number of 64 bits that isn't negative, or none.
  package static func natural(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<UInt64?>
  ) -> Self {
    Self(name, valueName, help, .natural) { settings, value in
      if case .natural(let number) = value { settings[keyPath: path] = number }
    }
  }

  /// A number.
  package static func number(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Double>, _ range: ClosedRange<Double>,
    unit: String = ""
  ) -> Self {
    let standard = Settings()[keyPath: path]
    return Self(name, valueName, help, .number(range, unit: unit, standard: standard)) { settings, value in
      if case .number(let number) = value { settings[keyPath: path] = number }
    }
  }

  /// A share, from 0 to 1.
  package static func share(_ name: String, _ help: String, _ path: Path<Double>) -> Self {
    Self(name, "share", help, .share) { settings, value in
      if case .number(let number) = value { settings[keyPath: path] = number }
    }
  }

  /// A text.
  package static func text(
    _ name: String, _ valueName: String?, _ help: String, _ path: Path<String>, _ bytes: ClosedRange<Int>
  ) -> Self {
    let standard = Settings()[keyPath: path]
    return Self(name, valueName, help, .text(bytes, reason: "", standard: standard)) { settings, value in
      if case .text(let text) = value { settings[keyPath: path] = text }
    }
  }

  /// A text, or none.
  package static func text(
    _ name: String, _ valueName: String?, _ help: String, _ path: Path<String?>, _ bytes: ClosedRange<Int> = 0...256,
    reason: String = ""
  ) -> Self {
    Self(name, valueName, help, .text(bytes, reason: reason, standard: nil)) { settings, value in
      if case .text(let text) = value { settings[keyPath: path] = text }
    }
  }

  /// One of some words.
  package static func word<Word: OptionWord>(
    _ name: String, _ help: String, _ path: Path<Word>
  ) -> Self {
    let standard = Settings()[keyPath: path].rawValue
    return Self(name, nil, help, .word(Word.self, standard: standard)) { settings, value in
      if case .text(let text) = value, let word = Word(rawValue: text) { settings[keyPath: path] = word }
    }
  }

  /// One of some words, or none.
  package static func word<Word: OptionWord>(_ name: String, _ help: String, _ path: Path<Word?>) -> Self {
    Self(name, nil, help, .word(Word.self, standard: nil)) { settings, value in
      if case .text(let text) = value { settings[keyPath: path] = Word(rawValue: text) }
    }
  }

  /// Any of some words.
  package static func words<Word: OptionWord>(_ name: String, _ help: String, _ path: Path<Set<Word>>) -> Self {
    Self(name, nil, help, .words(Word.self)) { settings, value in
      if case .words(let words) = value { settings[keyPath: path] = Set(words.compactMap { Word(rawValue: $0) }) }
    }
  }

  /// A time.
  package static func time(
    _ name: String, _ help: String, _ path: Path<Duration>, atLeast: Duration = .zero
  ) -> Self {
    Self(name, "time", help, .time(atLeast: atLeast)) { settings, value in
      if case .time(let time) = value { settings[keyPath: path] = time }
    }
  }

  /// A time, or none.
  package static func time(
    _ name: String, _ help: String, _ path: Path<Duration?>, atLeast: Duration = .zero
  ) -> Self {
    Self(name, "time", help, .time(atLeast: atLeast)) { settings, value in
      if case .time(let time) = value { settings[keyPath: path] = time }
    }
  }

  /// Bytes, or none.
  package static func bytes(_ name: String, _ help: String, _ path: Path<[UInt8]?>) -> Self {
    Self(name, "hex", help, .bytes) { settings, value in
      if case .bytes(let bytes) = value { settings[keyPath: path] = bytes }
    }
  }

  /// A number of 16 bits in hexadecimal, or none.
  package static func word16(_ name: String, _ help: String, _ path: Path<UInt16?>) -> Self {
    Self(name, "hex", help, .word16) { settings, value in
      if case .whole(let number) = value { settings[keyPath: path] = UInt16(clamping: number) }
    }
  }

  /// A host and a port, or none.
  package static func place(_ name: String, _ help: String, _ path: Path<OptionPlace?>) -> Self {
    Self(name, "host:port", help, .place) { settings, value in
      if case .place(let place) = value { settings[keyPath: path] = place }
    }
  }

  /// A file's path, or none.
  package static func path(_ name: String, _ help: String, _ path: Path<String?>) -> Self {
    Self(name, "path", help, .path) { settings, value in
      if case .text(let text) = value { settings[keyPath: path] = text }
    }
  }
}

extension OptionForm {
  /// Why the form doesn't allow a value of its type, for an option of this name: a sentence without its period. Nil if it does.
  package func problem(with value: OptionValue, of name: String) -> String? {
    switch (self, value) {
    case (.whole(let range, let unit, _), .whole(let number)) where !range.contains(number):
      let allowed =
        range.upperBound == .max ? "at least \(range.lowerBound)" : Self.text(range.lowerBound, range.upperBound)
      return "\(name) must be \(allowed)\(unit.isEmpty ? "" : " \(unit)")"
    case (.number(let range, let unit, _), .number(let number)) where !range.contains(number):
      return
        "\(name) must be \(Self.text(Int(range.lowerBound), Int(range.upperBound)))\(unit.isEmpty ? "" : " \(unit)")"
    case (.share, .number(let number)) where !(0...1).contains(number):
      return "\(name) must be a share from 0 to 1, for example 0.1"
    case (.text(let range, let reason, _), .text(let text)) where !range.contains(text.utf8.count):
      let allowed =
        range.lowerBound == 0 ? "at most \(range.upperBound)" : Self.text(range.lowerBound, range.upperBound)
      return "\(name) must have \(allowed) bytes\(reason.isEmpty ? "" : ": \(reason)")"
    case (.time(let shortest), .time(let time)) where time < shortest:
      return "\(name) must be at least \(shortest.inMilliseconds)ms"
    case (.path, .text(let text)) where text.isEmpty: return "\(name) needs a path, for example ./acc"
    default: return nil
    }
  }

  private static func text(_ lower: Int, _ upper: Int) -> String {
    lower == upper ? "\(lower)" : "\(lower) \(upper == lower + 1 ? "or" : "to") \(upper)"
  }
}
