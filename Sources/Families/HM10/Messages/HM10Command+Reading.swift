// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension HM10Command {
  /// Reads a command as a module does, with or without its line end. A command that is unknown, or has an invalid
  /// value, becomes `other`.
  ///
  /// - Throws: `HM10CommandError` if the bytes don't begin with AT, are too many, or can't be part of any command.
  public init(decoding bytes: [UInt8]) throws(HM10CommandError) {
    let line = WireText.withoutLineEnds(bytes[...])
    guard line.starts(with: "AT".utf8) else { throw .notACommand }
    guard line.count <= HM10Limits.command else { throw .tooLong(byteCount: line.count) }
    let text = String(decoding: line, as: UTF8.self)
    if let word = Self.words.first(where: { $0.text.utf8.elementsEqual(line) }) {
      self = word.command
    } else if let command = Self.parameterized(line, text) {
      self = command
    } else {
      guard line.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .notACommand }
      self = .other(text)
    }
  }

  /// Reads a command with an argument; nil if the argument is invalid.
  private static func parameterized(_ line: ArraySlice<UInt8>, _ text: String) -> HM10Command? {
    guard let command = candidate(line, text), let encoded = try? command.encoded(), encoded.elementsEqual(line) else {
      // Encoding the command gives other bytes.
      return nil
    }
    return command
  }

  private static func candidate(_ line: ArraySlice<UInt8>, _ text: String) -> HM10Command? {
    for form in VersionForm.allCases where text == "AT+\(form.rawValue)?" { return .version(form) }
    if let name = WireText.rest(of: line, behind: "AT+NAME") { return .setName(String(decoding: name, as: UTF8.self)) }
    for setting in HM10Setting.allCases {
      if text == "AT+\(setting.rawValue)?" { return .ask(setting) }
      if let value = WireText.rest(of: line, behind: "AT+" + setting.setName) {
        return setting.value(String(decoding: value, as: UTF8.self)).map { .set(setting, $0) }
      }
    }
    if let index = WireText.rest(of: line, behind: "AT+CONN") {
      return WireText.decimal(index).map { .connectIndex($0) }
    }
    for (word, isDual) in [("AT+CON", false), ("AT+CO1", true)] {
      if let digits = WireText.rest(of: line, behind: word) {
        return BluetoothAddress(digits: digits).map { .connect($0, isDual: isDual) }
      }
    }
    return nil
  }
}
