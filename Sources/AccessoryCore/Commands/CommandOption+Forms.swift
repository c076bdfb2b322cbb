// SPDX-License-Identifier: Apache-2.0

// How an option is written: its name, what its value is called, its help, and the property that it sets.

extension CommandOption where Settings: CommandSettings {
  /// A property that an option sets.
  package typealias Path<Value> = WritableKeyPath<Settings, Value> & Sendable

  /// An option that sets a property to what `read` makes of the value; nothing is set where that is nil.
  package init<Value>(
    _ name: String, _ valueName: String?, _ help: String, _ form: OptionForm, _ path: Path<Value>,
    _ read: @escaping @Sendable (OptionValue) -> Value?
  ) {
    self.init(name, valueName, help, form) { settings, value in
      if let value = read(value) { settings[keyPath: path] = value }
    }
  }

  /// A flag, which sets a property to this.
  package static func flag(_ name: String, _ help: String, _ path: Path<Bool>, to isSet: Bool = true) -> Self {
    Self(name, nil, help, .flag, path) { _ in isSet }
  }

  /// A whole number. `unit` says in errors what is counted.
  package static func whole<Number: FixedWidthInteger & SendableMetatype>(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Number>, _ range: ClosedRange<Int>
  ) -> Self {
    let standard = Int(clamping: Settings()[keyPath: path])
    return Self(name, valueName, help, .whole(range, standard: standard), path) {
      $0.whole.map { Number(clamping: $0) }
    }
  }

  /// A whole number, or none.
  package static func whole<Number: FixedWidthInteger & SendableMetatype>(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Number?>, _ range: ClosedRange<Int>
  ) -> Self {
    Self(name, valueName, help, .whole(range, standard: nil), path) { $0.whole.map { Number(clamping: $0) } }
  }

  /// Any number of 64 bits that isn't negative, or none.
  package static func natural(_ name: String, _ valueName: String, _ help: String, _ path: Path<UInt64?>) -> Self {
    Self(name, valueName, help, .natural, path) { if case .natural(let number) = $0 { number } else { nil } }
  }

  /// A number. `unit` says in errors what is counted.
  package static func number(
    _ name: String, _ valueName: String, _ help: String, _ path: Path<Double>, _ range: ClosedRange<Double>,
    unit: String = ""
  ) -> Self {
    let form = OptionForm.number(range, unit: unit, standard: Settings()[keyPath: path])
    return Self(name, valueName, help, form, path, \.number)
  }

  /// A share, from 0 to 1.
  package static func share(_ name: String, _ help: String, _ path: Path<Double>) -> Self {
    Self(name, "share", help, .share, path, \.number)
  }

  /// A text of this many bytes.
  package static func text(
    _ name: String, _ valueName: String?, _ help: String, _ path: Path<String>, _ bytes: ClosedRange<Int>
  ) -> Self {
    let form = OptionForm.text(bytes, reason: "", standard: Settings()[keyPath: path])
    return Self(name, valueName, help, form, path, \.text)
  }

  /// A text, or none. `reason` ends the sentence that says in errors how long it may be.
  package static func text(
    _ name: String, _ valueName: String?, _ help: String, _ path: Path<String?>, _ bytes: ClosedRange<Int> = 0...256,
    reason: String = ""
  ) -> Self {
    Self(name, valueName, help, .text(bytes, reason: reason, standard: nil), path) { $0.text }
  }

  /// One of some words.
  package static func word<Word: OptionWord>(_ name: String, _ help: String, _ path: Path<Word>) -> Self {
    let form = OptionForm.word(Word.self, standard: Settings()[keyPath: path].rawValue)
    return Self(name, nil, help, form, path) { $0.text.flatMap { Word(rawValue: $0) } }
  }

  /// One of some words, or none.
  package static func word<Word: OptionWord>(_ name: String, _ help: String, _ path: Path<Word?>) -> Self {
    Self(name, nil, help, .word(Word.self, standard: nil), path) { $0.text.flatMap { Word(rawValue: $0) } }
  }

  /// Any of some words.
  package static func words<Word: OptionWord>(_ name: String, _ help: String, _ path: Path<Set<Word>>) -> Self {
    Self(name, nil, help, .words(Word.self), path) {
      if case .words(let words) = $0 { Set(words.compactMap { Word(rawValue: $0) }) } else { nil }
    }
  }

  package static func time(
    _ name: String, _ help: String, _ path: Path<Duration>, atLeast: Duration = .zero
  ) -> Self {
    Self(name, "time", help, .time(atLeast: atLeast), path, \.time)
  }

  /// A time, or none.
  package static func time(_ name: String, _ help: String, _ path: Path<Duration?>) -> Self {
    Self(name, "time", help, .time(atLeast: .zero), path) { $0.time }
  }

  /// Bytes, or none.
  package static func bytes(_ name: String, _ help: String, _ path: Path<[UInt8]?>) -> Self {
    Self(name, "hex", help, .bytes, path) { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  /// A number of 16 bits in hexadecimal, or none.
  package static func word16(_ name: String, _ help: String, _ path: Path<UInt16?>) -> Self {
    Self(name, "hex", help, .word16, path) { $0.whole.map { UInt16(clamping: $0) } }
  }

  /// A host and a port, or none.
  package static func place(_ name: String, _ help: String, _ path: Path<OptionPlace?>) -> Self {
    Self(name, "host:port", help, .place, path) { if case .place(let place) = $0 { place } else { nil } }
  }

  /// A file's path, or none.
  package static func path(_ name: String, _ help: String, _ path: Path<String?>) -> Self {
    Self(name, "path", help, .path, path) { $0.text }
  }
}

extension OptionForm {
  /// Why the form doesn't allow a value of its type, for an option of this name: a sentence without its period. Nil if it does.
  package func problem(with value: OptionValue, of name: String) -> String? {
    switch (self, value) {
    case (.whole(let range, _), .whole(let number)) where !range.contains(number):
      let isOpen = range.upperBound == .max
      return
        "\(name) must be \(isOpen ? "at least \(range.lowerBound)" : Self.text(range.lowerBound, range.upperBound))"
    case (.number(let range, let unit, _), .number(let number)) where !range.contains(number):
      return
        "\(name) must be \(Self.text(Int(range.lowerBound), Int(range.upperBound)))\(unit.isEmpty ? "" : " \(unit)")"
    case (.share, .number(let number)) where !(0...1).contains(number):
      return "\(name) must be a share from 0 to 1, for example 0.1"
    case (.text(let range, let reason, _), .text(let text)) where !range.contains(text.utf8.count):
      let most = range.upperBound
      let allowed = range.lowerBound == 0 ? "at most \(most)" : Self.text(range.lowerBound, most)
      return "\(name) must have \(allowed) bytes\(reason.isEmpty ? "" : ": \(reason)")"
    case (.time(let shortest), .time(let time)) where time < shortest:
      return "\(name) must be at least \(shortest.inMilliseconds)ms"
    case (.path, .text(let text)) where text.isEmpty: return "\(name) needs a path, for example ./acc"
    default: return nil
    }
  }

  private static func text(_ lower: Int, _ upper: Int) -> String {
    "\(lower) \(upper == lower + 1 ? "or" : "to") \(upper)"
  }
}
