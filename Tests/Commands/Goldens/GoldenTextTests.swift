// SPDX-License-Identifier: Apache-2.0

import Testing

/// The form in which goldens are written leaves nothing out.
struct GoldenTextTests {
  private static let forms = GoldenForms(
    lines: [
      "command list --json\tdevices=[]\tschema=\"a/2\"\ttime=0", "command .device\tlink=null\tusb=~",
      "command .usb\tport=1",
      "# HELP up Whether it is up.", "# TYPE up gauge",
    ])
  private static let text = GoldenText(forms: forms)

  /// The lines of an answer, which must give the answer back.
  private static func lines(_ answers: String..., to question: String = "list --json") -> [String] {
    let asked = answers.map { (question: question, answer: $0) }
    let lines = text.lines(of: asked)
    let again = text.answers(in: lines)
    #expect(again.map(\.answer) == answers && again.allSatisfy { $0.question == question })
    return lines
  }

  @Test func whatIsAsUsualIsNotSaid() {
    let answer = #"{"device":{"id":"A b","link":null,"usb":{"port":1}},"devices":[],"schema":"a/2","time":0}"#
    #expect(Self.lines(answer) == ["$ list --json", ".", #" device id="A b""#])
  }

  @Test(arguments: [
    #"{"devices":[],"schema":"a/2"}"#, #"{"devices":[],"schema":"a/2","time":null}"#,
    #"{"devices":[{"id":1},{"id":2}],"schema":"a/3","time":0}"#, #"{"devices":[1,[2,{}]],"schema":"a/2","time":0}"#,
    #"{"device":{"link":null,"usb":null},"devices":[],"schema":"a/2","time":0}"#,
    #"{"device":{"link":{"a":1},"usb":{"port":2}},"devices":[],"schema":"a/2","time":0}"#,
    #"{"device":{"usb":{"port":1,"x":"\"} ,= - \\"}},"devices":[],"schema":"a/2","time":0}"#,
    #"{"device":{},"devices":[{"a":1},2],"schema":"a/2","time":0}"#, #"{"devices":{"a b":1},"time":0}"#,
    // In another order, not at all JSON, and with an error behind it.
    #"{"time":0,"devices":[],"schema":"a/2"}"#, #"{"devices":["#, "no accessory\nexit status 66", "",
    "{\"devices\":[],\"schema\":\"a/2\",\"time\":0}\nexit status 69",
  ])
  func eachAnswerIsGivenBack(answer: String) {
    let lines = Self.lines(answer)
    #expect(lines != Self.lines(#"{"devices":[],"schema":"a/2","time":0}"#))
  }

  @Test func aSecondAnswerSaysWhatDiffers() {
    let (one, other) = (#"{"devices":[{"id":1},{"id":2},{"id":3}]}"#, #"{"devices":[{"id":1},{"id":4},{"id":3}]}"#)
    let lines = Self.lines(one, other, one)
    #expect(lines[6...10] == ["= 2", "- 1", "+  *devices id=4", "= 1", "$ list --json"])
  }

  @Test func headsOfMetricsAreSaidOnce() {
    let head = "# HELP up Whether it is up.\n# TYPE up gauge"
    #expect(
      Self.lines("\(head)\nup{a=\"1\"} 1\nup{a=\"2\"} 0", to: "metrics") == [
        "$ metrics", "up{a=\"1\"} 1", "up{a=\"2\"} 0",
      ])
    #expect(Self.lines("up 1", to: "metrics") != Self.lines("\(head)\nup 1", to: "metrics"))
    #expect(Self.lines("# HELP up Another.\n# TYPE up gauge\nup 1", to: "metrics").count == 5)
    #expect(Self.lines("\(head)\ndown 1", to: "metrics").count == 5)
  }
}
