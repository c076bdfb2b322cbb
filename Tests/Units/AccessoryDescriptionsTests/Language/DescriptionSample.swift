// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// A small description that is right, of which tests change one thing. Its mistakes are told without the file's name.
enum DescriptionSample {
  static let head = "protocol: x\nversion: 1\n"
  static let framings = "framings: {f: {layout: [start: DD, n: u8, length: {type: u8, of: data}, data]}}\n"
  static let lines = "framings: {f: {layout: [start: \"(\", data, end: \"\\r\"]}}\n"

  /// What is wrong with a text, as `line:column: message`.
  static func mistakes(_ text: String) -> [String] {
    do throws(ProfileProblems) {
      _ = try DescriptionReader.read(Array(text.utf8), file: "f")
      return []
    } catch {
      return error.problems.map { String($0.description.dropFirst(2)) }
    }
  }

  /// What is wrong with a layout in line 3.
  static func layout(_ elements: String, _ rest: String = "") -> [String] {
    mistakes(head + "framings: {f: {layout: [\(elements)]\(rest)}}\n")
  }

  /// What is wrong with a message of bytes in line 4.
  static func message(_ keys: String) -> [String] {
    mistakes(head + framings + "messages: {m: {\(keys)}}\n")
  }

  /// What is wrong with a message of text in line 4.
  static func text(_ keys: String) -> [String] {
    mistakes(head + lines + "messages: {m: {\(keys)}}\n")
  }

  /// What is wrong from line 5 on, behind a message with values of all kinds.
  static func rest(_ rest: String) -> [String] {
    let message = """
      messages: {m: {fields: [{name: a, type: u8}, {name: w, type: u8, words: {1: bulk}}, {name: l, type: u8, flags: \
      {0: hot}}, {name: t, type: u8, truth: true}, {name: s, type: text, bytes: 2}, {name: c, type: u8, repeat: a}]}, r: \
      {refusal: true}}

      """
    return mistakes(head + framings + message + rest)
  }
}
