// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput

/// The forms of commands that people and scripts use most: with a device or without one, and with no option but `--json`. They are
/// read here. ArgumentParser would first look up the types of all options that they don't have, which is most of the work of a
/// command's start.
enum PlainForm {
  /// The command, as ArgumentParser would read it from these words; nil if they have another form, right or wrong.
  static func command(_ words: [String]) -> (any ParsableCommand)? {
    let command = read(words)
    // A debug build checks here that no new option was forgotten below.
    assert(
      command.map { Self.unset(in: $0).isEmpty } ?? true,
      "PlainForm sets no value of \(words[0])'s \(command.map { Self.unset(in: $0) } ?? [])")
    return command
  }

  private static func read(_ words: [String]) -> (any ParsableCommand)? {
    guard let name = words.first else { return nil }
    var device: String?
    var json = false
    for word in words.dropFirst() {
      if word == "--json", !json {
        json = true
      } else if device == nil, !word.isEmpty, !word.hasPrefix("-") {
        device = word
      } else {
        return nil
      }
    }
    switch name {
    case "list": return device == nil ? List(json: json) : nil
    case "battery": return Battery(device, json: json)
    case "status": return Status(device, json: json)
    case "values": return Values(device, json: json)
    default: return nil
    }
  }

  /// The paths of a command's properties that have no value. ArgumentParser ends the program when one of them is read: it has only
  /// the definition of an option (`Parsed` in ArgumentParser).
  private static func unset(in value: Any, at path: String = "") -> [String] {
    Mirror(reflecting: value).children.flatMap { child in
      let its = Mirror(reflecting: child.value)
      if its.displayStyle == .enum, its.children.first?.label == "definition" { return [path] }
      return unset(in: child.value, at: [path, child.label ?? ""].filter { !$0.isEmpty }.joined(separator: "."))
    }
  }
}

/// A group of options, of which a plain form has none.
protocol PlainOptions: ParsableArguments {
  /// Sets each option to what it is where it isn't given: one that isn't set can't be read.
  mutating func setDefaults()
}

extension PlainOptions {
  /// No option is given.
  static var none: Self {
    var options = Self()
    options.setDefaults()
    return options
  }
}

// Each property is set, as above.

extension List {
  fileprivate init(json: Bool) {
    self.init()
    (all, scan, wait) = (false, false, nil)
    output = OutputOptions(json: json)
  }
}

extension Battery {
  fileprivate init(_ device: String?, json: Bool) {
    self.init()
    (watch, once, all) = (false, false, false)
    self.device = DeviceArgument(device)
    (reading, past, alarms, transport, serial, waiting) = (.none, .none, .none, .none, .none, .none)
    output = OutputOptions(json: json)
  }
}

extension Status {
  fileprivate init(_ device: String?, json: Bool) {
    self.init()
    self.device = DeviceArgument(device)
    (reading, transport, serial, waiting) = (.none, .none, .none, .none)
    output = OutputOptions(json: json)
  }
}

extension Values {
  fileprivate init(_ device: String?, json: Bool) {
    self.init()
    self.device = DeviceArgument(device)
    names = []
    (plain, watch, once, poll) = (false, false, false, nil)
    (reading, past, transport, serial, waiting) = (.none, .none, .none, .none, .none)
    output = OutputOptions(json: json)
  }
}

extension DeviceArgument {
  fileprivate init(_ text: String?) {
    self.init()
    self.text = text
  }
}
