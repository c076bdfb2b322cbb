// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser
import CommandOutput

/// The options that `Settings` lists as values, as ArgumentParser knows options. It asks an instance's mirror for them, so `customMirror`
/// shows what the list says in the place of properties.
struct ValueOptions<Settings: CommandSettings>: ParsableArguments, CustomReflectable {
  /// What was given.
  private(set) var values = Settings()
  /// What was given and isn't allowed.
  private var problem: String?

  init() {}

  init(from decoder: any Decoder) throws {
    let given = try decoder.container(keyedBy: Key.self)
    for option in Settings.options {
      guard let value = try Definition(option).read(given, Key(option.name)) else { continue }
      let name = option.isArgument ? "<\(option.valueName ?? option.name)>" : "--\(option.name)"
      problem = problem ?? option.form.problem(with: value, of: name)
      option.set(&values, value)
    }
  }

  /// Throws where what was given isn't allowed. Each command calls it when it validates: an error in a group of options would let
  /// ArgumentParser take an option `--version` for its own.
  func check() throws {
    if let problem = problem ?? values.problem { throw ValidationError(problem) }
  }

  var customMirror: Mirror {
    Mirror(self, children: Settings.options.map { ($0.name, Definition($0).wrapper) as Mirror.Child })
  }

  /// The name of an option, as ArgumentParser stores its value.
  fileprivate struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  fileprivate typealias Given = KeyedDecodingContainer<Key>

  /// An option for ArgumentParser: the property wrapper that describes it, and how its value is read.
  fileprivate struct Definition {
    let wrapper: Any
    /// The value; nil if none was given.
    let read: (Given, Key) throws -> OptionValue?

    init(_ option: CommandOption<Settings>) {
      switch option.form {
      case .flag:
        wrapper = Flag(wrappedValue: false, name: .customLong(option.name), help: option.argumentHelp)
        read = { try $0.decode(Flag<Bool>.self, forKey: $1).wrappedValue ? .flag : nil }
      case .whole(_, let standard): self = .plain(option, standard) { .whole($0) }
      case .natural: self = .plain(option, nil as UInt64?) { .natural($0) }
      case .number(_, _, let standard): self = .plain(option, standard) { .number($0) }
      case .share: self = .plain(option, 0.0) { .number($0) }
      case .text(_, _, let standard): self = .plain(option, standard) { .text($0) }
      case .word(let words, let standard): self = .word(option, words, standard)
      case .words(let words): self = .words(option, words)
      case .path: self = .plain(option, nil as String?, completion: .file()) { .text($0) }
      case .time: self = .special(option, TimeArgument.self) { .time($0.duration) }
      case .moment:
        self = .special(option, MomentArgument.self) {
          switch $0.moment {
          case .after(let time): .time(time)
          case .request(let count): .whole(count)
          }
        }
      case .bytes: self = .special(option, HexArgument.self) { .bytes($0.bytes) }
      case .word16: self = .special(option, USBNumberArgument.self) { .whole(Int($0.number)) }
      case .place: self = .special(option, PlaceArgument.self) { .place(OptionPlace(host: $0.host, port: $0.port)) }
      }
    }

    private init(_ wrapper: Any, _ read: @escaping (Given, Key) throws -> OptionValue?) {
      (self.wrapper, self.read) = (wrapper, read)
    }

    /// An option, or an argument, with a value that ArgumentParser reads itself. `standard` is shown by the help.
    private static func plain<Value: ExpressibleByArgument>(
      _ option: CommandOption<Settings>, _ standard: Value?, completion: CompletionKind? = nil,
      _ value: @escaping (Value) -> OptionValue
    ) -> Definition {
      let (name, help) = (NameSpecification.customLong(option.name), option.argumentHelp)
      if option.isArgument {
        return Definition(Argument<Value>(help: help, completion: completion)) {
          value(try $0.decode(Argument<Value>.self, forKey: $1).wrappedValue)
        }
      }
      guard let standard else {
        return Definition(Option<Value?>(name: name, help: help, completion: completion)) {
          try $0.decode(Option<Value?>.self, forKey: $1).wrappedValue.map(value)
        }
      }
      return Definition(Option(wrappedValue: standard, name: name, help: help, completion: completion)) {
        value(try $0.decode(Option<Value>.self, forKey: $1).wrappedValue)
      }
    }

    private static func word<Word: OptionWord>(
      _ option: CommandOption<Settings>, _ words: Word.Type, _ standard: String?
    ) -> Definition {
      plain(option, standard.flatMap { WordArgument<Word>(argument: $0) }) { .text($0.word.rawValue) }
    }

    private static func words<Word: OptionWord>(_ option: CommandOption<Settings>, _ words: Word.Type) -> Definition {
      let wrapper = Option<[WordArgument<Word>]>(
        wrappedValue: [], name: .customLong(option.name), help: option.argumentHelp)
      return Definition(wrapper) {
        .words(try $0.decode(Option<[WordArgument<Word>]>.self, forKey: $1).wrappedValue.map(\.word.rawValue))
      }
    }

    /// An option whose value has a syntax of its own.
    private static func special<Value: FormArgument & SendableMetatype>(
      _ option: CommandOption<Settings>, _ type: Value.Type, _ value: @escaping (Value) -> OptionValue
    ) -> Definition {
      let wrapper = Option<Value?>(
        name: .customLong(option.name), help: option.argumentHelp, transform: { try Value.read($0) })
      return Definition(wrapper) { try $0.decode(Option<Value?>.self, forKey: $1).wrappedValue.map(value) }
    }
  }
}

extension CommandOption {
  fileprivate var argumentHelp: ArgumentHelp {
    ArgumentHelp(help, valueName: valueName, visibility: isRare ? HelpTopic.visibility : .default)
  }
}

/// A word of an option on the command line.
private struct WordArgument<Word: OptionWord>: ExpressibleByArgument {
  let word: Word

  init?(argument: String) {
    guard let word = Word(rawValue: argument) else { return nil }
    self.word = word
  }

  var defaultValueDescription: String { word.rawValue }
  static var allValueStrings: [String] { Word.allCases.map(\.rawValue) }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
