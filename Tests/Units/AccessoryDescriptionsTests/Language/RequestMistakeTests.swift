// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is said of derived values, requests, plans and examples that are wrong, to the letter.
@Suite struct RequestMistakeTests {
  /// Derived values in brackets, which begin in line 5, column 11.
  @Test(
    arguments: [
      ("{name: b, unit: V}", "5:11: a derived value needs a value: {name: n, value: a - b}"),
      ("{name: b, value: []}", "5:28: value must be a formula, like (raw - 2731) / 10, not a list"),
      (
        "{name: b, value: frist(a)}",
        "5:28: value: \"frist\" is not a function: there are if, first, min, max, sum, join, percent, charging, number"
      ),
      ("{name: a, value: -a}", "5:18: a is already defined in line 4"),
      ("{name: b, value: -x}", "5:28: value: there is no value \"x\": did you mean a?"),
      ("{name: b, value: a-t}", "5:28: value: \"a-t\" is one name: a minus needs blanks around it: a - t"),
      (
        "{name: b, value: -d}, {name: d, value: -a}",
        "5:28: d is derived later: a value must be defined before the values that are derived from it"
      ),
      (
        "{name: b, value: b}",
        "5:28: b is derived later: a value must be defined before the values that are derived from it"
      ),
      ("{name: b, value: 5}", "5:28: value: a value must be derived from at least one value that is read"),
      ("{name: b, value: raw}", "5:28: value: raw is the number of a field: name the values here"),
      ("{name: b, value: -s}", "5:28: value: s is a text, and must be a number"),
      ("{name: b, value: 2 * c}", "5:28: value: c is a list, and must be a number"),
      ("{name: b, value: \"first(a)\"}", "5:29: value: first needs 2 to 16 values, not 1"),
      (
        "{name: b, value: \"first(a, s)\"}",
        "5:28: value: the formula gives one of several values, so all must be of one kind: a is a number, and s is a text"
      ),
      ("{name: b, value: sum(t)}", "5:28: value: t is true or false, and must be a number, or a list of numbers"),
      ("{name: b, value: min(a)}", "5:28: value: a is a number, and must be a list of numbers"),
      ("{name: b, value: \"if(l, 'x')\"}", "5:28: value: l is flags, and must be true or false"),
      ("{name: b, value: \"if('hto' in l, 'x')\"}", "5:28: \"hto\" is not a flag of this value: did you mean hot?"),
      ("{name: b, value: \"if(w == 'blk', 'x')\"}", "5:28: \"blk\" is not a word of this value: did you mean bulk?"),
      ("{name: b, value: \"if(a == s, a)\"}", "5:28: value: a number can't be compared with a text"),
      (
        "{name: b, value: \"if(a in l, a)\"}",
        "5:28: value: in needs a text in front of it, like 'battery-low' in battery.warnings"
      ),
      ("{name: b, value: number(a)}", "5:28: value: a is a number, and must be a word that stands for a number"),
      ("{name: b, value: w, translate: {blk: x}}", "5:43: \"blk\" is not a word of b: did you mean bulk?"),
      ("{name: b, value: a, translate: {x: x}}", "5:42: translate is for words, and the formula gives a number"),
      (
        "{name: battery.power, value: -a}",
        "5:18: battery.power is in W: say unit: \"W\", and a value like raw / 10 where the accessory counts otherwise"
      ),
      (
        "{name: battery.charging, value: w, translate: {bulk: chraging}}",
        "5:18: battery.charging must be one of charging, discharging, not_charging, full, and can't be \"chraging\""
      ),
    ] as [(String, String)])
  func mistakesInDerivedValuesAreReported(text: String, mistake: String) {
    #expect(DescriptionSample.rest("derived: [\(text)]\n") == [mistake])
  }

  /// Parameters in braces, which begin in line 5, column 14.
  @Test(
    arguments: [
      ("p: {from: 1}", "5:14: to is missing: the limits of p, like {unit: V, from: 1, to: 500}"),
      ("p: {from: 2, to: 1}", "5:31: to is less than from, which is 2"),
      ("p: {from: 1/3, to: 1}", "5:24: from must be a number, like 21.5, not \"1/3\""),
      ("p: {from: 0, to: 9, default: 10}", "5:43: default must be a number from 0 to 9, not \"10\""),
      ("a: {from: 0, to: 9}", "5:14: a is already the name of a value, in line 4"),
      (
        "battery.empty: {from: 0, to: 9}",
        "5:14: battery.empty looks like a value that the accessory sends: give the parameter another name"
      ),
      ("p: {form: 0, from: 0, to: 9}", "5:18: unknown key \"form\": did you mean from?"),
    ] as [(String, String)])
  func mistakesInParametersAreReported(text: String, mistake: String) {
    #expect(DescriptionSample.rest("parameters: {\(text)}\n") == [mistake])
  }

  @Test func nothingFollowsFromParametersAlone() {
    let mistakes = DescriptionSample.rest(
      "parameters: {p: {from: 0, to: 9}}\nderived: [{name: b, value: -p}]\n")
    #expect(
      mistakes == ["6:28: value: a value must be derived from at least one value that is read"])
  }

  /// Requests in braces, which begin in line 5, column 15.
  @Test(
    arguments: [
      ("summary: a", "5:12: send is missing: a framing's name, or bytes without framing"),
      (
        "send: g",
        "5:22: send must be a framing's name, bytes in hexadecimal, or a text in quotes, not \"g\": did you mean f?"
      ),
      ("send: f", "5:22: with lacks n: with: {n: 0}"),
      ("send: f, with: {m: 1}", "5:32: \"m\" is not a number in frames of f: did you mean n?"),
      ("send: f, with: {n: 256}", "5:35: n must be a whole number from 0 to 255, not \"256\""),
      ("send: f, with: {n: \"{x}\"}", "5:35: \"x\" is not an argument of this request: there is none"),
      (
        "send: f, with: {n: \"{x}\"}, arguments: {x: {type: u16}}",
        "5:35: n allows 0 to 255, and the argument x allows 0 to 65535"
      ),
      ("send: f, with: {n: 1}, data: [{argument: x}]", "5:57: \"x\" is not an argument of this request: there is none"),
      (
        "send: f, with: {n: 1}, arguments: {x: {type: u8}}",
        "5:50: the argument x is not sent: data: [{argument: x}]"
      ),
      (
        "send: f, with: {n: 1}, data: \(String(repeating: "00", count: 510))",
        "5:45: the frame has 513 bytes, more than max, which is 512"
      ),
      ("send: DD, with: {n: 1}", "5:32: with is only for requests that send a frame, and send names no framing"),
      ("send: DD, reply: k", "5:33: \"k\" is not a message of this file: did you mean m?"),
      (
        "send: DD, reply: m, same: n",
        "5:42: same names elements of frames, but this request sends bytes without a framing"
      ),
      ("send: f, with: {n: 1}, same: n", "5:45: same is only for requests with a reply"),
      ("send: f, with: {n: 1}, reply: m, same: [k]", "5:56: \"k\" is not a number in frames of f: did you mean n?"),
      ("send: DD, refused_by: m", "5:38: the message m is not a refusal (refusal: true makes it one)"),
      ("send: DD, write: yes", "5:33: write must be true or false, not \"yes\""),
      (
        "send: DD, sets: {a: 1}",
        "5:32: sets is only for requests that change something: write: true"
      ),
      (
        "send: DD, write: true, sets: {aa: 1}",
        "5:46: \"aa\" is not a value of this file's messages: did you mean a?"
      ),
      (
        "send: [{argument: x}], arguments: {x: {type: u8}}, write: true, sets: {a: \"{xx}\"}",
        "5:90: \"xx\" is not an argument of this request: did you mean x?"
      ),
      (
        "send: DD, write: true, sets: {w: bulky}",
        "5:49: w must be bulk, not \"bulky\""
      ),
      (
        "send: DD, write: true, sets: {t: 2}",
        "5:49: t must be true or false, not \"2\""
      ),
      (
        "send: DD, write: true, sets: {a: x}",
        "5:49: a must be a number, like 21.5, not \"x\""
      ),
      ("send: DD, optional: true", "5:36: optional is only for requests with a reply"),
      (
        "send: DD, timeout: 2h",
        "5:35: timeout must be a time with its unit, like 500ms or 2s, from 1ms to 1m, not \"2h\""
      ),
      (
        "send: [{argument: x}], arguments: {x: {from: 1}}",
        "5:51: type is missing: a type of number, or text for decimal digits"
      ),
      (
        "send: [{argument: x}], arguments: {x: {type: f32}}",
        "5:61: an argument must be a whole number, not one with a fraction"
      ),
      ("send: [{argument: x}], arguments: {x: {type: u8, from: 5, to: 3}}", "5:78: to is less than from, which is 5"),
      (
        "send: [{argument: x}], arguments: {x: {type: u8, to: 256}}",
        "5:69: to must be a whole number from 0 to 255, not \"256\""
      ),
      (
        "send: [{argument: x}], arguments: {x: {type: u8, default: on, words: {off: 0}}}",
        "5:74: default must be a whole number from 0 to 255, not \"on\""
      ),
    ] as [(String, String)])
  func mistakesInRequestsAreReported(keys: String, mistake: String) {
    #expect(DescriptionSample.rest("requests: {q: {\(keys)}}\n") == [mistake])
  }

  /// Bodies of a fixed size, and those that can't be sent.
  @Test func requestsWhoseBodiesDoNotFitAreMistakes() {
    let text =
      DescriptionSample.head + """
        framings:
          f: {layout: [start: A5, data: 4]}
          p: {pairs: {begin: 0A, separator: 09, close: C}}

        """
    let mistakes = { (request: String) in DescriptionSample.mistakes(text + "requests: {q: {\(request)}}\n") }
    #expect(mistakes("send: f") == [] && mistakes("send: f, data: 01 02 03 04") == [])
    #expect(mistakes("send: f, data: 01 02") == ["6:31: data has 4 bytes in frames of f, not 2"])
    #expect(mistakes("send: p") == ["6:22: frames of p can't be sent"])
    let window = DescriptionSample.head + "framings: {w: {window: {pattern: 00 3A, mask: C0 FF}}}\n"
    #expect(
      DescriptionSample.mistakes(window + "requests: {q: {send: w, data: 01}}\n")
        == ["4:31: data has 2 bytes in frames of w, not 1"])
  }

  /// Plans in braces, which begin in line 6, column 8.
  @Test(
    arguments: [
      ("identify: {}", "6:18: request is missing: the request that identifies the accessory"),
      ("identify: {expect: {a: 1}}", "6:18: request is missing: the request that identifies the accessory"),
      ("identify: {request: [q, k]}", "6:32: \"k\" is not a request of this file: did you mean q?"),
      ("identify: {request: k}", "6:28: \"k\" is not a request of this file: did you mean q?"),
      ("identify: {request: a}", "6:28: identify: a has the argument x, which has no default"),
      ("identify: {request: w}", "6:28: identify: w changes something, so it can't be sent automatically"),
      ("identify: {request: q, expect: {b: 1}}", "6:40: expect: there is no value \"b\": did you mean a?"),
      ("identify: {request: q, expect: {a: [1]}}", "6:43: a is a number, not a list"),
      ("poll: [{every: 10s}]", "6:15: requests are missing: {requests: [basic], every: 10s}"),
      ("poll: [{requests: [w], every: 10s}]", "6:27: poll: w changes something, so it can't be sent automatically"),
      (
        "poll: [{requests: [q], every: 1ms}]",
        "6:38: every must be a time with its unit, like 500ms or 2s, from 100ms to 24h, not \"1ms\""
      ),
      ("tries: 0", "6:15: tries must be a whole number from 1 to 20, not \"0\""),
      (
        "wake: {send: 0D}",
        "6:14: wake needs the bytes to send, and the time to wait after them: {send: 0D, wait: 100ms}"
      ),
      ("start: [w]", "6:16: start: w changes something, so it can't be sent automatically"),
      ("start: [{request: k}]", "6:26: \"k\" is not a request of this file: did you mean q?"),
      ("start: [{}]", "6:16: a step of start must have one of request, baud and wait, not none"),
      (
        "start: [{request: q, baud: 9600}]",
        "6:16: a step of start must have one of request, baud and wait, not several"
      ),
      ("start: [{baud: fast}]", "6:23: baud must be a whole number from 1 to 100000000, not \"fast\""),
      ("start: [{baud: 9600, expect: {a: 1}}]", "6:37: expect needs request"),
      ("start: [{request: q, expect: {b: 1}}]", "6:38: expect: there is no value \"b\": did you mean a?"),
      (
        "start: [{request: n, expect: {a: 1}}]", "6:37: the request n has no reply, so nothing can be expected"
      ),
      ("start: [{wait: 2h}]", "6:23: wait must be a time with its unit, like 500ms or 2s, from 1ms to 1m, not \"2h\""),
      ("retries: 3", "6:8: unknown key \"retries\": did you mean tries?"),
    ] as [(String, String)])
  func mistakesInPlansAreReported(keys: String, mistake: String) {
    let requests = """
      requests: {q: {send: DD, reply: m}, n: {send: DD}, w: {send: DD, write: true}, a: {send: [{argument: x}], reply: m, arguments: {x: \
      {type: u8}}}}
      plan: {\(keys)}

      """
    #expect(DescriptionSample.rest(requests).contains(mistake), "\(DescriptionSample.rest(requests))")
  }

  /// Examples in brackets, which begin in line 6, column 12.
  @Test(
    arguments: [
      ("{expect: {a: 1}}", "6:12: an example needs received, or sent, or both"),
      ("{request: k, received: DD}", "6:22: \"k\" is not a request of this file: did you mean q?"),
      (
        "{sent: DD}",
        "6:12: an example with sent needs the request that sends it, or write: true for bytes that must not be sent"
      ),
      ("{request: w, sent: DD}", "6:22: the argument x is missing: request: {w: {x: 1}}"),
      ("{request: {w: {y: 1}}, sent: DD}", "6:27: \"y\" is not an argument of this request: did you mean x?"),
      ("{request: {w: {x: 9}}, sent: DD}", "6:30: x must be a whole number from 1 to 3, not \"9\""),
      ("{request: {w: {x: 2}}, sent: DD, write: false}", "6:52: the request w has another value of write"),
      (
        "{received: DD, refused: true, expect: {a: 1}}",
        "6:50: nothing is read from a refused frame: expect and refused: true exclude each other"
      ),
      ("{request: q, sent: DD, expect: {a: 1}}", "6:43: expect needs received, which is missing"),
      ("{received: DD, parameters: {p: 1}}", "6:40: \"p\" is not a parameter of this file: there is none"),
      ("{received: DD, given: {s: 1}}", "6:35: given: s is a text, and must be a whole number"),
      (
        "{received: DD, expect: {a: }}",
        "6:39: an expected value must be a value, a list of values, or unknown, not nothing"
      ),
      (
        "{received: \"DD A5\"}",
        "6:23: received in quotes is a text with 5 characters: write hexadecimal bytes without quotes (a text that "
          + "looks like them is {text: \"DD A5\"})"
      ),
    ] as [(String, String)])
  func mistakesInExamplesAreReported(text: String, mistake: String) {
    let requests = """
      requests: {q: {send: DD, reply: m}, w: {send: [{argument: x}], arguments: {x: {type: u8, from: 1, to: 3}}, write: true}}
      examples: [\(text)]

      """
    #expect(DescriptionSample.rest(requests).contains(mistake), "\(DescriptionSample.rest(requests))")
  }

  /// All that is wrong is said at once, in the order of the file, and not without end; what follows from a mistake isn't.
  @Test func allMistakesOfADescriptionAreReportedInOrder() {
    let some = DescriptionSample.mistakes(
      """
      protocol: X
      version: 1
      framings:
        f: {layout: [start: D, n: u8, length: {type: u8, of: data}, data]}
      messages:
        m: {when: {n: 1}, fields: [{name: a, type: u9}]}
      derived:
        - {name: b, value: -a}
      requests:
        q: {send: f, with: {n: 1}, reply: k}
      """)
    #expect(some.map { $0.prefix { $0 != " " } } == ["1:11:", "4:23:", "6:46:", "10:37:"], "\(some)")
    let many = DescriptionSample.mistakes(DescriptionSample.head + (0..<100).map { "k\($0): 1\n" }.joined())
    #expect(many.count == 20)
  }
}
