// SPDX-License-Identifier: Apache-2.0

/// What a command of a family, or one that simulates a kind of accessory, is told on its command line. `options` lists it as values, from
/// which the command line, its help and its completions are made.
package protocol CommandSettings: Sendable {
  /// The settings where nothing is said.
  init()
  /// The options and arguments, in the order of the help.
  static var options: [CommandOption<Self>] { get }
  /// Why these settings can't be used together, as a sentence without its period; nil if they can.
  var problem: String? { get }
}

extension CommandSettings {
  /// The default: any settings can be used together.
  package var problem: String? { nil }
}

/// The words from which an option takes one.
package protocol OptionWord: RawRepresentable<String>, CaseIterable, Sendable {}

/// An option or an argument of a command as a value: what it is called, what it may be, and which of the `Settings` it sets.
package struct CommandOption<Settings: Sendable>: Sendable {
  /// Its name on the command line, without the dashes.
  package let name: String
  /// What its value is called in the help; nil for the name.
  package private(set) var valueName: String?
  /// What it is for, as a sentence.
  package let help: String
  /// What it may be.
  package let form: OptionForm
  /// Whether it has no dashes: it is told by its place on the command line.
  package private(set) var isArgument = false
  /// Whether only the long help shows it.
  package private(set) var isRare = false
  /// Sets what was given, which has the form's type and is allowed.
  package let set: @Sendable (inout Settings, OptionValue) -> Void

  package init(
    _ name: String, _ valueName: String?, _ help: String, _ form: OptionForm,
    set: @escaping @Sendable (inout Settings, OptionValue) -> Void
  ) {
    (self.name, self.valueName, self.help, self.form, self.set) = (name, valueName, help, form, set)
  }

  /// The same option, shown only by the long help.
  package var rare: Self {
    var option = self
    option.isRare = true
    return option
  }

  /// The same option, whose value is called so in the help.
  package func calling(_ valueName: String) -> Self {
    var option = self
    option.valueName = valueName
    return option
  }

  /// The same as an argument, which has no dashes.
  package var argument: Self {
    var option = self
    option.isArgument = true
    return option
  }

  /// The same option of settings that these are a part of.
  package func of<Whole>(_ part: WritableKeyPath<Whole, Settings> & Sendable) -> CommandOption<Whole> {
    var option = CommandOption<Whole>(name, valueName, help, form) { [set] whole, value in
      set(&whole[keyPath: part], value)
    }
    (option.isRare, option.isArgument) = (isRare, isArgument)
    return option
  }
}

/// What an option may be. `standard` is what counts if it isn't given, for the help; nil if it needn't be anything then.
package enum OptionForm: Sendable {
  /// Given or not.
  case flag
  /// A whole number in this range.
  case whole(ClosedRange<Int>, standard: Int?)
  /// Any number of 64 bits that isn't negative.
  case natural
  /// A number in this range. `unit` says in errors what is counted.
  case number(ClosedRange<Double>, unit: String, standard: Double)
  /// A number from 0 to 1.
  case share
  /// A text with this many bytes. `reason` ends the sentence that says so in errors.
  case text(ClosedRange<Int>, reason: String, standard: String?)
  case word(any OptionWord.Type, standard: String?)
  /// Any of these words; each is given by itself.
  case words(any OptionWord.Type)
  /// A time with its unit.
  case time(atLeast: Duration)
  /// A time with its unit, or how many things have happened until then.
  case moment
  /// Bytes in hexadecimal.
  case bytes
  /// A number of 16 bits in hexadecimal.
  case word16
  /// A host and a port.
  case place
  /// The path of a file.
  case path
}

/// What was given for an option.
package enum OptionValue: Sendable, Hashable {
  case flag
  case whole(Int)
  case natural(UInt64)
  case number(Double)
  /// A text, a word or a path.
  case text(String)
  case words([String])
  case time(Duration)
  case bytes([UInt8])
  case place(OptionPlace)

  /// The value, if it is of this type.
  package var whole: Int? { if case .whole(let number) = self { number } else { nil } }
  package var number: Double? { if case .number(let number) = self { number } else { nil } }
  package var text: String? { if case .text(let text) = self { text } else { nil } }
  package var time: Duration? { if case .time(let time) = self { time } else { nil } }
}

/// A host and a port on the command line.
package struct OptionPlace: Sendable, Hashable {
  /// The host's name or address.
  package let host: String
  /// The port; 0 for any.
  package let port: UInt16

  package init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }
}
