// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

/// The keys of each mapping in a description file. Documentation/describing.md explains them, and
/// Documentation/schema/protocol-1.schema.json lists them for editors, but for those of `Seldom`.
enum DescriptionKeys {
  /// Keys that no description in this package needs. They are read, but are neither on the page nor in the schema.
  enum Seldom {
    static let framing = ["window"]
    static let window = ["pattern", "mask"]
    static let check = ["unless_empty"]
    static let pieces = ["silence"]
    static let field = ["quantity", "places", "sign"]
    static let derivation = ["quantity"]
    static let register = ["quantity"]
  }

  static let description = [
    "protocol", "version", "description", "raw", "byte_order", "line", "bluetooth", "advertisement", "modbus",
    "registers", "framings", "units", "messages",
    "parameters", "derived", "plausible", "requests", "plan", "examples",
  ]
  static let bluetooth = ["name", "manufacturer", "service", "write", "notify", "greet", "looks"]
  static let looks = ["name", "address", "manufacturer", "data", "service"]
  static let greet = ["characteristic", "send"]
  static let advertisement = ["manufacturer", "begins", "aes_ctr"]
  static let counterMode = ["nonce", "key_byte", "from"]
  static let framing = [
    "layout", "pairs", "direction", "max", "interrupts", "ignore", "digits", "first_digit", "checks",
    "length",
  ]
  static let ignore = ["bytes", "texts"]
  static let length = ["type", "of", "adjust", "nibble_check"]
  static let check = ["algorithm", "over", "order", "as", "bump"]
  static let pairs = ["begin", "separator", "close"]
  static let units = ["element", "from", "to", "default", "request_adds", "reply_adds", "scan"]
  static let message = [
    "framing", "when", "unless", "fields", "tags", "pairs", "columns", "table", "pattern", "types", "line_end",
    "separator", "separation", "pushed", "refusal", "pieces",
  ]
  static let refusal = ["reason", "words"]
  static let pieces = ["index", "first", "count", "each"]
  static let field = [
    "name", "type", "bits", "stay", "value", "unit", "role", "unknown", "words", "flags", "truth",
    "repeat", "list", "hidden", "bytes", "padding", "suffix", "lowest_first",
    "translate", "form", "as",
  ]
  /// The additional keys of a field in a column.
  static let column = ["column", "at", "may_be_missing"]
  /// The keys of other steps in a sequence of fields.
  static let steps = ["skip", "group", "repeat", "tail", "at_least", "below", "fields"]
  static let parameter = ["summary", "unit", "from", "to", "default"]
  static let derivation = [
    "name", "value", "translate", "unit", "role", "hidden",
  ]
  static let request = [
    "summary", "send", "with", "data", "arguments", "reply", "same", "refused_by", "write", "sets", "echoed",
    "optional", "timeout",
  ]
  static let argument = ["type", "from", "to", "value", "unit", "default", "words"]
  static let plan = [
    "identify", "poll", "gap", "timeout", "tries", "retry_gap", "retry_refused", "wake", "start", "expiry",
    "round",
  ]
  static let startStep = ["request", "expect", "baud", "wait"]
  static let identify = ["request", "expect"]
  static let poll = ["requests", "every"]
  static let wake = ["send", "wait"]
  static let example = [
    "request", "unit_number", "sent", "received", "given", "parameters", "expect", "refused", "write",
  ]

  static let modbus = ["unit_number", "scan", "longest", "across", "words_first", "tcp"]
  static let registers = ["summary", "function", "fields", "optional"]
  static let register = [
    "at", "half", "words_first", "name", "type", "bits", "value", "unit", "role", "unknown",
    "words", "flags", "truth", "repeat", "list", "hidden", "bytes", "padding",
  ]

  static let places: [KnownKeys.Place] = [
    ("a field", field), ("a framing", framing), ("a message", message), ("a request", request), ("plan", plan),
    ("line", KnownKeys.tty), ("a check", check), ("a length", length), ("an argument", argument),
    ("an example", example), ("units", units), ("derived", derivation), ("a parameter", parameter),
    ("plan: wake", wake), ("plan: poll", poll), ("advertisement", advertisement), ("aes_ctr", counterMode),
    ("bluetooth", bluetooth), ("greet", greet), ("looks", looks),
    ("modbus", modbus), ("a group of registers", registers), ("a register", register),
    ("the description itself", description),
  ]
}
