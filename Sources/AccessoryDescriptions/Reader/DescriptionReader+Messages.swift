// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads messages: what frames mean.
extension DescriptionReader {
  static let messageLimit = 64

  mutating func messages(_ node: YAMLNode) {
    // A field of a later message may hold the count of pieces, so the counts are resolved at the end.
    var counts: [(name: String, mark: YAMLMark)] = []
    for entry in entries(node, "messages", limit: Self.messageLimit) ?? [] {
      let before = problems.count
      _ = isPlainName(entry, "a message's name")
      let message = message(entry, &counts)
      if problems.count > before { hasBrokenMessages = true }
      description.messages.append(message)
    }
    for (name, mark) in counts { value(name, mark, "pieces: count", \.hasRawNumber, "a whole number") }
  }

  private mutating func message(
    _ entry: YAMLNode.Entry, _ counts: inout [(name: String, mark: YAMLMark)]
  ) -> ProtocolDescription.Message {
    var message = ProtocolDescription.Message(name: entry.key, framing: 0)
    guard let fields = keys(entry.value, DescriptionKeys.message) else { return message }
    let framings = framings(of: fields, entry)
    guard let framing = framings.first else { return message }
    message.framing = framing
    message.otherFramings = Array(framings.dropFirst())
    for key in ["when", "unless"] {
      if let node = fields[key] { message.conditions += conditions(node, message, isNegated: key == "unless") }
    }
    var scope = MessageScope(framing: framing)
    scope.otherFramings = message.otherFramings
    message.body = body(fields, entry.mark, &scope)
    lookUp(scope)
    set(&message.isPushed, flag(fields, "pushed"))
    if let node = fields["refusal"] { refusal(node, &message) }
    if let node = fields["pieces"] { message.pieces = pieces(node, scope, &counts) }
    return message
  }

  private mutating func framings(of fields: KeyedNodes, _ entry: YAMLNode.Entry) -> [Int] {
    guard let node = fields["framing"] else {
      // Missing framings were reported earlier.
      if description.framings.count > 1 {
        report(entry.mark, "framing is missing: name one of \(NameWords.list(description.framings.map(\.name), "or"))")
      }
      if description.framings.count == 1 { isReceived(0, entry.mark) }
      return description.framings.count == 1 ? [0] : []
    }
    let names = description.framings.map(\.name)
    var framings: [Int] = []
    for node in oneOrMore(node, "framings", limit: Self.framingLimit) {
      guard let place = reference(node, "a framing of this file", among: names) else { continue }
      if framings.contains(place) { report(node.mark, "the framing \(names[place]) is given twice") }
      if !framings.isEmpty, elements(of: place).isEmpty || elements(of: framings[0]).isEmpty,
        !brokenFramings.contains(place), !brokenFramings.contains(framings[0])
      {
        report(node.mark, "a message can have several framings only if each has a layout")
      }
      isReceived(place, node.mark)
      framings.append(place)
    }
    return framings
  }

  /// Reports a framing whose frames never come from the accessory, so that no message can have it.
  private mutating func isReceived(_ framing: Int, _ mark: YAMLMark) {
    guard description.framings[framing].direction == .toDevice else { return }
    report(mark, "frames of \(description.framings[framing].name) are never received: its direction is to_device")
  }

  /// The index of an element that all framings of the message have at the same index and with the same type.
  mutating func numberElement(_ name: String, _ mark: YAMLMark, of message: ProtocolDescription.Message) -> Int? {
    guard let place = numberElement(name, mark, of: message.framing) else { return nil }
    for other in message.otherFramings {
      guard let second = numberElement(name, mark, of: other) else { return nil }
      guard second == place, elements(of: other)[second] == elements(of: message.framing)[place] else {
        report(
          mark,
          "\(name) differs in frames of \(description.framings[other].name): all framings of one message must have it "
            + "at the same place of their layouts, with the same type")
        return nil
      }
    }
    return place
  }

  /// The elements of a framing; empty when it has no layout.
  func elements(of framing: Int) -> [ProtocolDescription.Element] {
    switch description.framings[framing].form {
    case .layout(let elements), .hexadecimal(let elements, _): elements
    case .window, .pairs: []
    }
  }

  /// The index of a framing's number element. Reports an unknown name; for a framing with errors it returns nil and reports nothing.
  mutating func numberElement(_ name: String, _ mark: YAMLMark, of framing: Int) -> Int? {
    guard !brokenFramings.contains(framing) else { return nil }
    let elements = elements(of: framing)
    if let place = elements.firstIndex(where: { $0.name == name }) {
      if case .number = elements[place].kind { return place }
      report(mark, "\(name) is not a number with a name, so it can't be compared or set")
      return nil
    }
    guard problems.count < Self.problemLimit else { return nil }
    let known = elements.filter { if case .number = $0.kind { true } else { false } }.map(\.name)
    let advice = known.isEmpty ? "it has none" : KnownKeys.advice(name, among: known)
    report(
      mark,
      "\(Quoted.text(name)) is not a number in frames of \(description.framings[framing].name): \(advice)")
    return nil
  }

  /// The range of an element's raw number.
  func range(ofElement place: Int, of framing: Int) -> ClosedRange<Int> {
    guard case .number(let format) = elements(of: framing)[place].kind else { return 0...0 }
    return Self.range(of: format) ?? 0...0
  }

  private mutating func conditions(
    _ node: YAMLNode, _ message: ProtocolDescription.Message, isNegated: Bool
  ) -> [ProtocolDescription.Condition] {
    var conditions: [ProtocolDescription.Condition] = []
    for entry in entries(node, isNegated ? "unless" : "when", limit: 16) ?? [] {
      if isUnit(entry.key, entry.mark, isNegated ? "unless" : "when") { continue }
      guard let place = numberElement(entry.key, entry.mark, of: message) else { continue }
      let range = range(ofElement: place, of: message.framing)
      let values = oneOrMore(entry.value, "numbers of \(entry.key)", limit: 64).compactMap {
        integer($0, "the number of \(entry.key)", range)
      }
      var condition = ProtocolDescription.Condition(place, values)
      condition.isNegated = isNegated
      conditions.append(condition)
    }
    return conditions
  }

  private mutating func refusal(_ node: YAMLNode, _ message: inout ProtocolDescription.Message) {
    message.isRefusal = true
    if case .scalar = node.content {
      if let isRefusal = flag(node, "refusal (or {reason: ELEMENT, words: {1: why}})") { message.isRefusal = isRefusal }
      return
    }
    guard let fields = keys(node, DescriptionKeys.refusal), let reason = fields["reason"] else { return }
    guard case .scalar(let name) = reason.content,
      let place = numberElement(name, reason.mark, of: message)
    else {
      if case .scalar = reason.content { return }
      report(reason.mark, "reason must be an element's name, not \(kind(reason))")
      return
    }
    message.refusalReason = place
    guard let words = fields["words"] else { return }
    message.refusalWords = numbered(words, "words", range(ofElement: place, of: message.framing)) {
      $0.text($1, "a reason", limit: 100)
    }
  }

  private mutating func pieces(
    _ node: YAMLNode, _ scope: MessageScope, _ counts: inout [(name: String, mark: YAMLMark)]
  ) -> ProtocolDescription.Pieces? {
    guard let fields = keys(node, DescriptionKeys.pieces), let index = fields["index"],
      let place = reference(index, "a field of this message", among: scope.fields)
    else { return nil }
    guard scope.counting.contains(scope.fields[place]) else {
      report(index.mark, "\(scope.fields[place]) is not a whole number, so it can't be the number of a piece")
      return nil
    }
    var pieces = ProtocolDescription.Pieces(index: scope.fields[place])
    set(&pieces.first, number(fields, "first"))
    set(&pieces.each, number(fields, "each"))
    set(&pieces.silence, nanoseconds(fields, "silence"))
    if let count = fields["count"] {
      pieces.count = text(fields, "count")
      if let name = pieces.count { counts.append((name, count.mark)) }
      if let silence = fields["silence"] {
        report(silence.mark, "pieces can end by a count or by silence, not by both")
      }
    } else if let each = fields["each"] {
      report(each.mark, "each is only for pieces with a count")
    }
    return pieces
  }

  /// Looks up a field or a derived value. Reports an unknown name, and a value for which `isGood` is false.
  mutating func value(
    _ name: String, _ mark: YAMLMark, _ place: String, _ isGood: (ValueType) -> Bool, _ wanted: String
  ) {
    guard let facts = values[name] else {
      // The name may be in a message that couldn't be read.
      guard !hasBrokenMessages, problems.count < Self.problemLimit, !hasBareMinus(name, mark, place) else { return }
      let known = values.keys.sorted()
      let advice = known.isEmpty ? "there is none" : KnownKeys.advice(name, among: known)
      report(mark, "\(place): there is no value \(Quoted.text(name)): \(advice)")
      return
    }
    if !isGood(facts) { report(mark, "\(place): \(name) is \(facts.name), and must be \(wanted)") }
  }
}
