// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

// Reads the plan: which requests are made, and when.
extension DescriptionReader {
  mutating func plan(_ node: YAMLNode) -> ProtocolDescription.Plan {
    var plan = ProtocolDescription.Plan()
    guard let fields = keys(node, DescriptionKeys.plan) else { return plan }
    if let node = fields["identify"] { identify(node, &plan) }
    if let node = fields["poll"] {
      plan.polls = oneOrMore(node, "polls", limit: 32).compactMap { poll($0) }
    }
    set(&plan.gap, nanoseconds(fields, "gap"))
    set(&plan.timeout, nanoseconds(fields, "timeout"))
    set(&plan.tries, number(fields, "tries"))
    set(&plan.retryGap, nanoseconds(fields, "retry_gap"))
    set(&plan.retriesRefused, flag(fields, "retry_refused"))
    if let node = fields["wake"] { plan.wake = wake(node) }
    if let node = fields["start"] {
      plan.start = oneOrMore(node, "steps of start", limit: 32).compactMap { startStep($0) }
    }
    plan.expiry = nanoseconds(fields, "expiry")
    plan.round = fields["round"].flatMap { round($0) }
    return plan
  }

  /// Reads the name of the value that begins a round: one that the accessory sends by itself.
  private mutating func round(_ node: YAMLNode) -> String? {
    guard case .scalar(let name) = node.content, !name.isEmpty else {
      report(node.mark, "round must be the name of the value that begins a round, not \(kind(node))")
      return nil
    }
    let pushed = description.messages.filter(\.isPushed)
    guard pushed.contains(where: { $0.fields.contains { $0.name == name } }) else {
      report(
        node.mark,
        "round: no message with pushed: true has the value \(Quoted.text(name)), so no round can begin with it")
      return nil
    }
    return name
  }

  private mutating func identify(_ node: YAMLNode, _ plan: inout ProtocolDescription.Plan) {
    guard let fields = keys(node, DescriptionKeys.identify), let request = fields["request"] else { return }
    let requests = oneOrMore(request, "requests", limit: 4).map { node in (node, unattended(node, "identify")) }
    for case (let node, let place?) in requests where description.requests[place].reply == nil {
      report(
        node.mark, "the request \(description.requests[place].name) has no reply, so it can't identify the accessory")
    }
    plan.identify = requests.first?.1
    plan.identifyOtherwise = requests.dropFirst().compactMap(\.1)
    if let node = fields["expect"] { plan.expected = expectations(node) }
  }

  /// Reads a step of the start: a request's name, or one of {request: reset, expect: {…}}, {baud: 9600}, {wait: 1s}.
  private mutating func startStep(_ node: YAMLNode) -> ProtocolDescription.StartStep? {
    guard case .mapping = node.content else { return unattended(node, "start").map { .request($0, expected: [:]) } }
    guard let fields = keys(node, DescriptionKeys.startStep) else { return nil }
    let kinds = ["request", "baud", "wait"].filter { fields[$0] != nil }
    guard kinds.count == 1 else {
      report(
        node.mark, "a step of start must have one of request, baud and wait, not \(kinds.isEmpty ? "none" : "several")")
      return nil
    }
    if kinds[0] != "request", let node = fields["expect"] { report(node.mark, "expect needs request") }
    if let node = fields["baud"], description.units != nil || description.modbus != nil {
      report(node.mark, "baud: several accessories may be on this line, so its rate can't be changed")
    }
    if fields["baud"] != nil { return number(fields, "baud").map { .baud($0) } }
    if fields["wait"] != nil { return nanoseconds(fields, "wait").map { .wait($0) } }
    guard let node = fields["request"], let request = unattended(node, "start") else { return nil }
    guard let expect = fields["expect"] else { return .request(request, expected: [:]) }
    if description.requests[request].reply == nil {
      report(
        expect.mark,
        "the request \(description.requests[request].name) has no reply, so nothing can be expected")
    }
    return .request(request, expected: expectations(expect))
  }

  private mutating func poll(_ node: YAMLNode) -> ProtocolDescription.Poll? {
    guard let fields = keys(node, DescriptionKeys.poll), let requests = fields["requests"] else { return nil }
    let places = oneOrMore(requests, "requests", limit: 32).compactMap { unattended($0, "poll") }.flatMap {
      // The first request of a group of registers stands for all requests of the group.
      groups[$0].map(Array.init) ?? [$0]
    }
    return ProtocolDescription.Poll(places, every: nanoseconds(fields, "every"))
  }

  /// Reads the name of a request that the plan makes without the user: it must be no write, and need no arguments.
  private mutating func unattended(_ node: YAMLNode, _ what: String) -> Int? {
    guard let place = reference(node, "a request of this file", among: description.requests.map(\.name)) else {
      return nil
    }
    let request = description.requests[place]
    if request.isWrite {
      report(node.mark, "\(what): \(request.name) changes something, so it can't be sent automatically")
    }
    if let argument = request.arguments.first(where: { $0.defaultValue == nil }) {
      report(node.mark, "\(what): \(request.name) has the argument \(argument.name), which has no default")
    }
    return place
  }

  private mutating func wake(_ node: YAMLNode) -> ProtocolDescription.Wake? {
    guard let fields = keys(node, DescriptionKeys.wake) else { return nil }
    let (bytes, pause) = (bytes(fields, "send"), nanoseconds(fields, "wait"))
    guard let bytes, let pause else { return nil }
    return ProtocolDescription.Wake(bytes, pause: pause)
  }

  /// Reads expected values: names, with their values as text.
  mutating func expectations(_ node: YAMLNode) -> [String: String] {
    var expected: [String: String] = [:]
    for entry in entries(node, "expect", limit: 256) ?? [] {
      value(entry.key, entry.mark, "expect", { _ in true }, "")
      let isList = if case .sequence = entry.value.content { true } else { false }
      if isList, let facts = values[entry.key], !facts.isList, facts.kind != .flags {
        report(entry.value.mark, "\(entry.key) is \(facts.name), not a list")
      }
      expected[entry.key] = expectation(entry.value)
    }
    return expected
  }

  private mutating func expectation(_ node: YAMLNode) -> String? {
    guard case .sequence(let elements) = node.content else { return expectedText(node) }
    guard elements.count <= ProtocolDescription.Limit.repetitions else {
      report(node.mark, "a list has at most \(ProtocolDescription.Limit.repetitions) values, not \(elements.count)")
      return nil
    }
    let texts = elements.map { expectedText($0) }
    return texts.contains(nil) ? nil : texts.compactMap { $0 }.joined(separator: ", ")
  }

  private mutating func expectedText(_ node: YAMLNode) -> String? {
    guard case .scalar(let text) = node.content, text.utf8.count <= 1_024, !text.isEmpty || node.style != .plain else {
      report(
        node.mark,
        "an expected value must be a value, a list of values, or unknown, not \(kind(node))")
      return nil
    }
    return text
  }
}
