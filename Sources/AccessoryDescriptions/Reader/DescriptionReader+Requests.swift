// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads requests.
extension DescriptionReader {
  static let requestLimit = 64

  mutating func requests(_ node: YAMLNode) {
    for entry in entries(node, "requests", limit: Self.requestLimit) ?? [] {
      _ = isPlainName(entry, "a request's name")
      description.requests.append(request(entry))
    }
  }

  private mutating func request(_ entry: YAMLNode.Entry) -> ProtocolDescription.Request {
    var request = ProtocolDescription.Request(name: entry.key, sends: .bytes([]))
    guard let fields = keys(entry.value, DescriptionKeys.request, at: entry.mark) else { return request }
    set(&request.summary, text(fields, "summary"))
    request.arguments = fields["arguments"].map { arguments($0) } ?? []
    if let send = fields["send"] { request.sends = sends(send, fields, request.arguments) }
    if let node = fields["reply"] {
      request.reply = reference(node, "a message of this file", among: description.messages.map(\.name))
    }
    if let node = fields["same"] { request.echoes = echoes(node, request) }
    request.refusals = refusals(fields["refused_by"])
    set(&request.isWrite, flag(fields, "write"))
    if let node = fields["sets"] {
      request.sets = settings(node, request)
      if !request.isWrite { report(node.mark, "sets is only for requests that change something: write: true") }
    }
    set(&request.isEchoed, flag(fields, "echoed"))
    set(&request.isOptional, flag(fields, "optional"))
    if request.isOptional, request.reply == nil, fields["reply"] == nil, let node = fields["optional"] {
      report(node.mark, "optional is only for requests with a reply")
    }
    request.timeout = nanoseconds(fields, "timeout")
    return request
  }

  /// Reads the messages that refuse a request. By default these are all messages that are refusals.
  private mutating func refusals(_ node: YAMLNode?) -> [Int] {
    let messages = description.messages
    guard let node else { return messages.indices.filter { messages[$0].isRefusal } }
    return oneOrMore(node, "messages", limit: 16).compactMap { node in
      guard let place = reference(node, "a message of this file", among: messages.map(\.name)) else { return nil }
      if !messages[place].isRefusal {
        report(node.mark, "the message \(messages[place].name) is not a refusal (refusal: true makes it one)")
      }
      return place
    }
  }

  /// Reads the elements that a reply must have in common with its request.
  private mutating func echoes(
    _ node: YAMLNode, _ request: ProtocolDescription.Request
  ) -> [ProtocolDescription.Echo] {
    guard case .frame(let framing, _, _) = request.sends else {
      // A request whose bytes couldn't be read was reported earlier.
      if case .bytes(let parts) = request.sends, !parts.isEmpty {
        report(node.mark, "same names elements of frames, but this request sends bytes without a framing")
      }
      return []
    }
    guard let reply = request.reply else {
      report(node.mark, "same is only for requests with a reply")
      return []
    }
    return oneOrMore(node, "elements", limit: 8).compactMap { node in
      guard case .scalar(let name) = node.content else {
        report(node.mark, "same must name elements, not \(kind(node))")
        return nil
      }
      if isUnit(name, node.mark, "same") { return nil }
      let first = numberElement(name, node.mark, of: framing)
      let second = first.flatMap { _ in numberElement(name, node.mark, of: description.messages[reply]) }
      guard let first, let second else { return nil }
      return ProtocolDescription.Echo(request: first, reply: second)
    }
  }

  // MARK: - Arguments

  private mutating func arguments(_ node: YAMLNode) -> [ProtocolDescription.Argument] {
    var arguments: [ProtocolDescription.Argument] = []
    for entry in entries(node, "arguments", limit: 16) ?? [] {
      guard isPlainName(entry, "an argument's name") else { continue }
      // An argument with errors is added, too, so that references to it are found.
      arguments.append(argument(entry) ?? ProtocolDescription.Argument(entry.key, 0...0, nil))
    }
    return arguments
  }

  private mutating func argument(_ entry: YAMLNode.Entry) -> ProtocolDescription.Argument? {
    guard let fields = keys(entry.value, DescriptionKeys.argument, at: entry.mark), let type = fields["type"] else {
      return nil
    }
    var format: ProtocolDescription.NumberFormat?
    if type.content != .scalar("text") {
      guard let number = number(type, "an argument (or text)") else { return nil }
      guard number.encoding != .float else {
        report(type.mark, "an argument must be a whole number, not one with a fraction")
        return nil
      }
      format = number
    }
    let range = format.flatMap { Self.range(of: $0) } ?? Self.widest
    let from = fields["from"].flatMap { integer($0, "from", range) } ?? range.lowerBound
    let to = fields["to"].flatMap { integer($0, "to", range) } ?? range.upperBound
    guard from <= to else {
      report(fields["to"]?.mark ?? entry.mark, "to is less than from, which is \(from)")
      return nil
    }
    var argument = ProtocolDescription.Argument(entry.key, from...to, format)
    if let node = fields["value"] { set(&argument.formula, settingFormula(node)) }
    argument.unit = text(fields, "unit")
    if let node = fields["words"] {
      let words = numbered(node, "words", from...to, limit: 64) { reader, node in
        reader.oneOrMore(node, "words", limit: 16).compactMap { reader.plainName($0, "a word") }
      }
      for (number, names) in words {
        for name in names where argument.words.updateValue(number, forKey: name) != nil {
          report(node.mark, "the word \(name) is given twice")
        }
      }
    }
    if let node = fields["default"] {
      if case .scalar(let word) = node.content, let number = argument.words[word] {
        argument.defaultValue = number
      } else {
        argument.defaultValue = integer(node, "default", from...to)
      }
    }
    return argument
  }

  /// Reads the value that an argument sets.
  private mutating func settingFormula(_ node: YAMLNode) -> Formula? {
    guard let formula = formula(node) else { return nil }
    if formula.linear?.offset != nil { return formula }
    report(
      node.mark,
      "the value that an argument sets must be raw, to which a whole number is added before it is multiplied or divided, like "
        + "(raw - 40) / 10, so that the number to send can be calculated from it")
    return nil
  }
}
