// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is told apart, asked, worked out and expected.
@Suite struct DescriptionExchangeTests {
  typealias Description = ProtocolDescription

  static let head = """
    protocol: x
    version: 1
    framings:
      q: {layout: [start: DD, direction: u8, register: u8, data: 2]}
      r: {layout: [start: DD, register: u8, status: u8, length: {type: u8, of: data}, data]}
    messages:
      basic:
        framing: r
        when: {register: [3, 0x05]}
        unless: {status: 0x80}
        pushed: true
        fields:
          - {name: battery.current, type: i16, unit: A}
          - {name: n, type: u8}
          - {name: state, type: u8, words: {1: bulk}}
          - {name: alarms, type: u8, flags: {0: hot}}
          - {name: ok, type: u8, truth: true}
          - {name: battery.cells, type: u8, unit: V, repeat: n}
      more: {framing: r, pieces: {index: i, first: 1, count: n, each: 3}, fields: [{name: i, type: u8}]}
      silent: {framing: r, pieces: {index: i, silence: 50ms}, fields: [{name: i, type: u8}]}
      refused: {framing: r, refusal: {reason: status, words: {0x80: unknown register}}}
      busy: {framing: r, refusal: true}

    """

  private func read(_ rest: String) throws -> Description {
    try DescriptionReader.read(Array((Self.head + rest).utf8), file: "f.yaml").description
  }

  @Test func messagesOfADescriptionAreRead() throws {
    let messages = try read("").messages
    var unless = Description.Condition(2, [0x80])
    unless.isNegated = true
    #expect(messages[0].framing == 1 && messages[0].isPushed)
    #expect(messages[0].conditions == [.init(1, [3, 5]), unless])
    #expect(messages[1].pieces?.index == "i" && messages[1].pieces?.count == "n")
    #expect(messages[1].pieces?.first == 1 && messages[1].pieces?.each == 3)
    #expect(messages[2].pieces?.count == nil && messages[2].pieces?.silence == 50_000_000)
    #expect(messages[3].isRefusal && messages[3].refusalReason == 2)
    #expect(messages[3].refusalWords == [0x80: "unknown register"])
    #expect(messages[4].isRefusal && messages[4].refusalReason == nil)
  }

  @Test func requestsOfADescriptionAreRead() throws {
    let description = try read(
      """
      requests:
        basic: {summary: All of it, send: q, with: {direction: 0xA5, register: 3}, reply: basic, same: register, timeout: 2s}
        set:
          send: q
          with: {direction: 0x5A, register: "{register}"}
          data: [01, {argument: level}]
          arguments:
            register: {type: u8, to: 9}
            level: {type: u8, from: 1, to: 10, value: (raw + 2) / 10, unit: A, default: low, words: {1: low, 10: [high, most]}}
          refused_by: busy
          write: true
          echoed: true
        text: {send: ["ATSP", {argument: p}, "\\r"], arguments: {p: {type: text, from: 0, to: 9}}}

      """)
    let (basic, set, text) = (description.requests[0], description.requests[1], description.requests[2])
    #expect(basic.summary == "All of it" && basic.reply == 0 && basic.timeout == 2_000_000_000 && !basic.isWrite)
    // Of a body of a fixed size of which nothing is said there are zeros.
    #expect(basic.sends == .frame(framing: 0, elements: [1: 0xA5, 2: 3], body: [.bytes([0, 0])]))
    #expect(basic.echoes == [.init(request: 2, reply: 1)])
    #expect(basic.refusals == [3, 4], "all that refuse")
    #expect(
      set.sends
        == .frame(
          framing: 0, elements: [1: 0x5A],
          body: [.element(2, argument: "register"), .bytes([1]), .argument("level")]))
    var level = Description.Argument("level", 1...10, .init(byteCount: 1))
    level.formula = .scaled(over: 10, offset: 2)
    level.unit = "A"
    level.defaultValue = 1
    level.words = ["low": 1, "high": 10, "most": 10]
    #expect(set.arguments == [.init("register", 0...9, .init(byteCount: 1)), level])
    #expect(set.refusals == [4] && set.isWrite && set.isEchoed && set.reply == nil)
    #expect(text.sends == .bytes([.bytes(Array("ATSP".utf8)), .argument("p"), .bytes([13])]))
    #expect(text.arguments == [.init("p", 0...9, nil)])
  }

  @Test func derivedValuesOfADescriptionAreRead() throws {
    let description = try read(
      """
      derived:
        - {name: by_state, value: state, translate: {bulk: charging}, hidden: true}
        - {name: by_current, value: "charging(battery.current, 0.05)", hidden: true}
        - {name: battery.charging, value: "first(by_state, by_current)"}
        - {name: p, value: "percent(n, battery.current)"}
        - {name: d, value: n - p, unit: A, quantity: current}
        - {name: s, value: sum(battery.cells)}
        - {name: w, value: "if('hot' in alarms, 'overheated')"}
        - {name: v, value: "if(ok, 'fine')"}
      """)
    #expect(
      try description.derived.map(\.formula)
        == [
          "state", "charging(battery.current, 0.05)", "first(by_state, by_current)", "percent(n, battery.current)",
          "n - p",
          "sum(battery.cells)", "if('hot' in alarms, 'overheated')", "if(ok, 'fine')",
        ].map { text in try Description.Formula(text) })
    #expect(description.derived[0].translations == ["bulk": "charging"])
    #expect(description.derived[0].isHidden && !description.derived[2].isHidden)
    #expect(description.derived[4].unit == "A" && description.derived[4].quantity == "current")
  }

  @Test func planAndExamplesOfADescriptionAreRead() throws {
    let description = try read(
      """
      requests:
        a: {send: DD 03, reply: basic}
        b: {send: [DD, {argument: n}], arguments: {n: {type: u8, words: {three: 3}}}}
      plan:
        identify: {request: a, expect: {n: 3, battery.cells: [1, 2.5]}}
        poll: [{requests: [a], every: 10s}, {requests: a}]
        gap: 20ms
        timeout: 250ms
        tries: 4
        retry_gap: 300ms
        wake: {send: 0D, wait: 100ms}
        start: a
        expiry: 30s
      examples:
        - {request: a, sent: DD 03, received: DD 04, expect: {ok: true, battery.current: unknown, alarms: [hot]}}
        - request: {b: {n: three}}
          received: "(x\\r"
          given: {n: 14}
          refused: true
        - {sent: DD 5A, write: true}
      """)
    let plan = description.plan
    #expect(plan.identify == 0 && plan.expected == ["n": "3", "battery.cells": "1, 2.5"])
    #expect(plan.polls == [.init([0], every: 10_000_000_000), .init([0], every: nil)])
    #expect(plan.gap == 20_000_000 && plan.timeout == 250_000_000 && plan.tries == 4 && plan.retryGap == 300_000_000)
    #expect(
      plan.wake == .init([0x0D], pause: 100_000_000) && plan.start == [.request(0, expected: [:])]
        && plan.expiry == 30_000_000_000)
    let examples = description.examples
    #expect(examples[0].request == 0 && examples[0].sent == [0xDD, 3] && examples[0].received == [0xDD, 4])
    #expect(examples[0].expected == ["ok": "true", "battery.current": "unknown", "alarms": "hot"])
    #expect(examples[1].arguments == ["n": 3] && examples[1].given == ["n": 14] && examples[1].isRefused)
    #expect(examples[1].received == Array("(x\r".utf8))
    #expect(examples[2].isWrite && examples[2].sent == [0xDD, 0x5A] && examples[2].request == nil)
    let line = Self.head.split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(examples.map(\.line) == [line + 14, line + 15, line + 19])
  }
}
