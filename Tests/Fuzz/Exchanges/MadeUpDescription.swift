// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Descriptions of protocols that an input makes up: in the language's words, mostly with sense, so that what is behind the
/// reader is reached, and not with sense always.
enum MadeUpDescription {
  /// The text of one.
  static func text(_ script: inout Script) -> String {
    var text = "protocol: x\nversion: 1\n"
    if script.byte() & 3 == 0 { text += "byte_order: little\n" }
    let form = script.byte() % 6
    text += framing(form, &script)
    text += "messages:\n"
    let count = 1 + script.number(below: 3)
    for number in 0..<count { text += message(number, form, &script) }
    text += "requests:\n"
    for number in 0..<1 + script.number(below: 2) { text += request(number, form, of: count, &script) }
    if script.byte() & 1 == 0 {
      text += "parameters: {p: {from: -1, to: 9, default: 2}, q: {unit: V, from: 0, to: 1}}\n"
    }
    if script.byte() & 1 == 0 { text += derived(&script) }
    if script.byte() & 1 == 0 { text += plan(&script) }
    if script.byte() & 1 == 0 { text += examples(count, &script) }
    return text
  }

  private static func choose(_ words: [String], _ script: inout Script) -> String {
    words[script.number(below: words.count)]
  }

  private static func hex(_ count: Int, _ script: inout Script) -> String {
    script.take(max(1, count)).map { Hexadecimal.string($0) }.joined(separator: " ")
  }

  // MARK: - Framings

  private static let checks = [
    "sum8", "negated-sum8", "sum8-0x55", "sum8-0xff", "xor8", "sum16", "sum32", "negated-sum16", "fletcher8",
    "crc-8/smbus",
    "crc-16/xmodem", "crc-16/modbus", "crc-32/iso-hdlc",
  ]

  private static func framing(_ form: UInt8, _ script: inout Script) -> String {
    switch form {
    case 0: return "framings:\n  f: {window: {pattern: \(hex(3, &script)), mask: FF 80 \(hex(1, &script))}}\n"
    case 1: return "framings:\n  f: {pairs: {begin: \"\\r\\n\", separator: \"\\t\", close: Checksum}}\n"
    default: break
    }
    var text = "framings:\n  f:\n"
    if form == 2 {
      text += "    digits: hex\n"
      if script.byte() & 1 == 0 { text += "    checks: digits\n" }
      if script.byte() & 1 == 0 { text += "    length: digits\n" }
      if script.byte() & 3 == 0 { text += "    first_digit: single\n" }
    }
    if script.byte() & 7 == 0 { text += "    max: \(4 + 16 * Int(script.byte()))\n" }
    if form > 2, script.byte() & 3 == 0 { text += "    ignore: {bytes: \(hex(1, &script)), texts: [\"ab\", \"a\"]}\n" }
    text += "    layout:\n"
    let isText = form == 3
    if isText || form == 2 || script.byte() & 3 != 0 { text += "      - start: \(isText ? "28" : hex(1, &script))\n" }
    if script.byte() & 1 == 0 { text += "      - kind: \(choose(["u8", "u16", "i8", "u16le"], &script))\n" }
    if script.byte() & 3 == 0 { text += "      - constant: \(hex(2, &script))\n" }
    let hasLength = !isText && script.byte() & 1 == 0
    if hasLength {
      let type = choose(["u8", "u16", "u24", "u32le"], &script)
      let adjust = choose(["", ", adjust: 1", ", adjust: -2", ", nibble_check: true"], &script)
      text += "      - length: {type: \(type), of: data\(adjust)}\n"
    }
    text += hasLength || isText ? "      - data\n" : "      - data: \(1 + script.number(below: 40))\n"
    if script.byte() & 3 != 0 {
      let notation = choose(["", ", as: hex", ", as: decimal", ", bump: [0D]", ", unless_empty: true"], &script)
      text += "      - check: {algorithm: \(choose(checks, &script)), over: data\(notation)}\n"
    }
    if isText || form == 2 || script.byte() & 3 == 0 { text += "      - end: 0D\n" }
    return text
  }

  // MARK: - Messages

  private static func message(_ number: Int, _ form: UInt8, _ script: inout Script) -> String {
    var text = "  m\(number):\n"
    if form > 1, script.byte() & 1 == 0 { text += "    when: {kind: \(number)}\n" }
    switch script.byte() % 6 {
    case 0: text += "    pushed: true\n"
    case 1: text += "    refusal: true\n"
    case 2: text += "    pieces: {index: a, first: 1, count: b, each: \(1 + script.number(below: 4))}\n"
    default: break
    }
    let isText = form == 1 || form == 3
    switch (isText, script.byte() % 4) {
    case (true, 0):
      text += "    columns:\n"
      for field in 0..<1 + script.number(below: 5) { text += "      - \(textField(field, &script))\n" }
    case (true, 3) where form == 3:
      text += "    table:\n"
      for field in 0..<1 + script.number(below: 5) { text += "      H\(field): \(textField(field, &script))\n" }
    case (true, 2) where form == 3:
      text += "    pattern: \"{a}\(choose(["V", " ", "{{", "-"], &script)){b}\"\n"
    case (true, _):
      text += "    pairs:\n"
      if form == 3 { text += "    line_end: \"\\n\"\n" }
      for field in 0..<1 + script.number(below: 5) { text += "      L\(field): \(textField(field, &script))\n" }
    case (false, 0):
      text += "    tags:\n"
      for tag in 0..<1 + script.number(below: 4) {
        text += "      0x\(Hexadecimal.string(script.byte())): [\(field(tag, &script))]\n"
      }
    default:
      text += "    fields:\n" + list(1 + script.number(below: 7), from: 0, depth: 0, &script)
    }
    return text
  }

  private static func list(_ count: Int, from first: Int, depth: Int, _ script: inout Script) -> String {
    let margin = String(repeating: " ", count: 6 + 4 * depth)
    var text = ""
    for number in first..<(first + count) {
      switch script.byte() % 12 {
      case 0: text += margin + "- skip: \(script.number(below: 6))\n"
      case 1 where depth < 4:
        let times = choose(["2", "a", "end", "200"], &script)
        text += margin + "- repeat: \(times)\n" + margin + "  group:\n"
        text += list(2, from: number * 10 + 10, depth: depth + 1, &script)
      case 2 where depth < 4:
        text += margin + "- tail:\n" + list(1, from: number * 10 + 10, depth: depth + 1, &script)
      case 3 where depth < 4:
        text += margin + "- at_least: {a: \(script.number(below: 4))}\n" + margin + "  fields:\n"
        text += list(1, from: number * 10 + 10, depth: depth + 1, &script)
      default: text += margin + "- \(field(number, &script))\n"
      }
    }
    return text
  }

  private static let names = [
    "a", "b", "battery.voltage", "c", "battery.percent", "battery.cells", "d", "status.state", "e",
  ]

  private static func name(_ number: Int) -> String { number < names.count ? names[number] : "v\(number)" }

  private static func field(_ number: Int, _ script: inout Script) -> String {
    let name = name(number)
    var type = choose(
      [
        "u8", "u16", "u24", "u32", "u64", "i8", "i16le", "i64", "m8", "m16", "bcd8", "bcd32", "bcd56", "bcd64", "f32",
        "f64", "date16",
        "text",
        "text0", "ptext", "hex", "u8", "u16be", "scattered",
      ], &script)
    switch type {
    case "text", "hex": type += ", bytes: \(1 + script.number(below: 12))"
    case "scattered": type += ", places: [0.2, 1.0..6]\(choose(["", ", sign: 0.0"], &script))"
    default: break
    }
    var text = "name: \(name), type: \(type)"
    switch name {
    case "battery.voltage", "battery.cells": text += ", unit: V"
    case "battery.percent": text += ", unit: \"%\""
    case "status.state": return "{name: status.state, type: u8, words: {0: idle, 1: busy}}"
    default: break
    }
    switch script.byte() % 12 {
    case 0: text += ", bits: \(script.number(below: 9))"
    case 1: text += ", bits: 0..\(script.number(below: 17)), stay: true"
    case 2: text += ", value: \"\(formula(&script))\""
    case 3: text += ", unknown: [0xFF, 0x7FFF]"
    case 4: text += ", words: {0: zero, 1: one, 255: most}"
    case 5: text += ", flags: {0: low, 7: high, 12: far}"
    case 6: text += ", truth: true"
    case 7: text += ", repeat: \(choose(["3", "a", "end", "prefixed", "255"], &script))"
    // What earlier versions wrote.
    case 8:
      text += ", offset: -\(Int(script.byte()) * 300), scale: \(choose(["0.01", "1/3", "-1", "123456789.1"], &script))"
    case 9:
      text +=
        ", variants: {by: \(choose(["a", "b", name], &script)), 1: {encoding: bcd, scale: 0.01}}, above: {100: {scale: -1}}"
    case 10: text += ", hidden: true"
    default: break
    }
    return "{\(text)}"
  }

  /// A formula of a few parts, mostly with sense.
  private static func formula(_ script: inout Script, depth: Int = 0) -> String {
    let leaves = ["raw", "raw", "a", "b", "signed", "bcd", "0", "2.5", "0x7FFF", "999999999999"]
    guard depth < 4, script.byte() & 1 == 0 else { return choose(leaves, &script) }
    func part() -> String { formula(&script, depth: depth + 1) }
    switch script.byte() % 8 {
    case 0: return "if(\(part()) \(choose(["<", ">=", "==", "!="], &script)) \(part()), \(part()), \(part()))"
    case 1: return "-(\(part()))"
    case 2: return "percent(\(part()), \(part()))"
    case 3: return "first(\(part()), \(part()))"
    default: return "(\(part()) \(choose(["+", "-", "*", "/"], &script)) \(part()))"
    }
  }

  private static func textField(_ number: Int, _ script: inout Script) -> String {
    let type = choose(
      [
        "number", "number, suffix: V", "number, form: 000.0, value: raw / 10", "hexnumber, form: 0x0000",
        "hexnumber, as: i16",
        "bitstring, flags: {0: low, 3: high}",
        "bitstring, lowest_first: true, flags: {0: low}", "word, translate: {ON: 1, OFF: 0}, truth: true",
        "word, translate: {L: line}", "text",
        "number, may_be_missing: true", "number, optional: true", "number, unknown: \"---\"",
        "number, unknown: dashes, form: 00.0",
        "number, at: 2..4",
      ], &script)
    let name = ["a", "b", "c", "d", "e"][number % 5]
    return "{name: \(name), type: \(type)}"
  }

  // MARK: - Requests and the rest

  private static func request(_ number: Int, _ form: UInt8, of messages: Int, _ script: inout Script) -> String {
    var text = "  r\(number):\n"
    let isBytes = form < 2 || script.byte() & 3 == 0
    text += "    send: \(isBytes ? hex(3, &script) : "f")\n"
    if !isBytes {
      if script.byte() & 1 == 0 {
        text += "    with: {kind: \(choose(["0", "1", "\"{n}\""], &script))}\n"
        text += "    arguments: {n: {type: u8, from: 0, to: 9, default: 1}}\n"
      }
      if script.byte() & 1 == 0 { text += "    data: \(hex(script.number(below: 8), &script))\n" }
    }
    if script.byte() & 7 != 0 { text += "    reply: m\(script.number(below: messages))\n" }
    switch script.byte() % 8 {
    case 0: text += "    same: [kind]\n"
    case 1: text += "    echoed: true\n"
    case 2: text += "    write: true\n"
    case 3: text += "    optional: true\n"
    default: break
    }
    return text
  }

  private static func derived(_ script: inout Script) -> String {
    let rules = [
      "first(a, b)", "percent(a, b)", "a - b", "a * b", "sum(battery.cells)", "min(battery.cells)", "-a",
      "charging(a, 0.05)", "if(a, 'yes')", "percent(a, p, b)", "a * q", "if(c, a)", "if(not a, b)",
      "if(a >= 1 and a <= 9, a)",
    ]
    var text = "derived:\n"
    for number in 0..<1 + script.number(below: 3) {
      let value = script.byte() & 3 == 0 ? formula(&script).replacing("raw", with: "a") : choose(rules, &script)
      text += "  - {name: w\(number), value: \"\(value)\"}\n"
    }
    return text
  }

  private static func plan(_ script: inout Script) -> String {
    var text = "plan:\n  poll: [{requests: [r0], every: 1s}]\n"
    if script.byte() & 1 == 0 { text += "  identify: {request: r0}\n" }
    if script.byte() & 3 == 0 { text += "  wake: {send: 0D, wait: 10ms}\n" }
    if script.byte() & 3 == 0 { text += "  start: [r0, {request: r0, expect: {a: 1}}, {wait: 1ms}]\n" }
    return text
  }

  private static func examples(_ messages: Int, _ script: inout Script) -> String {
    var text = "examples:\n"
    for _ in 0..<1 + script.number(below: 2) {
      let request = script.byte() & 1 == 0 ? "request: r0, " : ""
      text += "  - {\(request)received: \(hex(script.number(below: 30), &script)), expect: {a: unknown}}\n"
    }
    return text
  }
}

extension Script {
  /// A value that is set.
  mutating func value() -> PlainValue {
    switch byte() % 8 {
    case 0: .whole(Int(Int8(bitPattern: byte())))
    case 1: .whole(Int.max - Int(byte()))
    case 2: .number(Double(Int8(bitPattern: byte())) * 1e18)
    case 3: .number(.nan)
    case 4: .text(String(decoding: take(number(below: 9)), as: UTF8.self))
    case 5: .list((0..<number(below: 5)).map { _ in .whole(Int(byte())) })
    case 6: .flag(byte() & 1 == 0)
    default: .nothing
    }
  }
}
