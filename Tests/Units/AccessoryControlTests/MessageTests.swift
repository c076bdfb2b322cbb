// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@Suite("Messages") struct MessageTests {
  @Test func messagesAreReadHoweverTheyAreCut() {
    let stream = Array("first\0\0second message\0third".utf8)
    var splitter = MessageSplitter(limit: 100)
    for byte in stream {
      [byte].withUnsafeBytes { splitter.append($0) }
    }
    var all: [MessageSplitter.Next] = []
    for _ in 0..<4 { all.append(splitter.next()) }
    #expect(
      all == [.message(Array("first".utf8)), .message([]), .message(Array("second message".utf8)), .nothing])
    #expect(splitter.count == 5)
    #expect(splitter.takeRest() == Array("third".utf8))
    #expect(splitter.count == 0 && splitter.next() == .nothing)
  }

  @Test func aMessageOfTheLimitIsTakenAndNoneBeyond() {
    var splitter = MessageSplitter(limit: 10)
    ([UInt8](repeating: 1, count: 10) + [0]).withUnsafeBytes { splitter.append($0) }
    #expect(splitter.next() == .message([UInt8](repeating: 1, count: 10)))
    ([UInt8](repeating: 1, count: 11) + [0]).withUnsafeBytes { splitter.append($0) }
    #expect(!splitter.wantsMore && splitter.next() == .tooLong)
    var endless = MessageSplitter(limit: 10)
    [UInt8](repeating: 1, count: 11).withUnsafeBytes { endless.append($0) }
    #expect(!endless.wantsMore && endless.next() == .tooLong)
  }

  @Test func callsSurviveTheWire() throws {
    let call = CallMessage(method: "a.B.C", parameters: ["x": .int(1)], oneway: true, more: true, upgrade: true)
    #expect(call.bytes.last == 0)
    #expect(try CallMessage(JSON(call.bytes.dropLast())) == call)
    #expect(try CallMessage(JSON(Array(#"{"method":"a.B.C","parameters":null,"more":null}"#.utf8))).parameters == [:])
  }

  @Test(arguments: [
    ("1", "message"), ("[]", "message"), ("{}", "method"), (#"{"method":1}"#, "method"),
    (#"{"method":"a","parameters":[]}"#, "parameters"), (#"{"method":"a","more":1}"#, "more"),
    (#"{"method":"a","oneway":"true"}"#, "oneway"), (#"{"method":"a","upgrade":{}}"#, "upgrade"),
  ])
  func whatIsNoCallSaysWhere(_ text: String, _ field: String) throws {
    let json = try JSON(Array(text.utf8))
    let error = #expect(throws: CallError.self) { try CallMessage(json) }
    #expect(error == .invalidParameter(field))
  }

  @Test func repliesSurviveTheWire() throws {
    let replies = [
      ReplyMessage([:]), ReplyMessage(["x": .array([.null])], continues: true),
      ReplyMessage(.invalidParameter("x")), ReplyMessage(.expectedMore),
    ]
    for reply in replies { #expect(try ReplyMessage(JSON(reply.bytes.dropLast())) == reply) }
    for text in ["1", #"{"parameters":1}"#, #"{"error":1}"#, #"{"continues":1}"#] {
      #expect(try ReplyMessage(JSON(Array(text.utf8))) == nil)
    }
  }

  @Test(arguments: AccessoryError.Kind.allCases)
  func everyKindOfErrorComesBackTheSame(_ kind: AccessoryError.Kind) throws {
    let interface = try InterfaceDescription(Bridge.text)
    for code in [nil, .errno(5), .refusal(3), .libusb(-4)] as [AccessoryError.Code?] {
      let error = AccessoryError(kind, code: code, "what happened")
      let sent = CallError(error, device: "X1", holder: "screen (pid 7)")
      let fields = try #require(interface.errors[kind.errorName])
      #expect(interface.firstProblem(in: sent.parameters, fields) == nil)
      #expect(sent.accessoryError == error)
      #expect(sent.holder == (kind == .busy ? "screen (pid 7)" : nil))
    }
  }

  @Test func otherErrorsAreInTheInterfaceToo() throws {
    let interface = try InterfaceDescription(Bridge.text)
    let ambiguous = CallError.ambiguousDevice("A", candidates: ["A1", "A2"], "two fit")
    let limit = CallError.limitReached(3, "too many")
    #expect(interface.firstProblem(in: ambiguous.parameters, try #require(interface.errors["AmbiguousDevice"])) == nil)
    #expect(interface.firstProblem(in: limit.parameters, try #require(interface.errors["LimitReached"])) == nil)
    #expect(ambiguous.candidates == ["A1", "A2"] && ambiguous.accessoryError.kind == .misconfigured)
    #expect(limit.accessoryError.kind == .busy)
    let known = Set(AccessoryError.Kind.allCases.map(\.errorName) + ["AmbiguousDevice", "LimitReached"])
    #expect(Set(interface.errors.keys) == known, "an error that nobody can make or read")
  }

  @Test func hexadecimalTextIsExact() {
    let all = (0...255).map { UInt8($0) }
    #expect(Hexadecimal.bytes(Hexadecimal.string(all)) == all)
    #expect(Hexadecimal.bytes("aAfF00") == [0xAA, 0xFF, 0])
    for text in ["0", "0g", " 00", "00 11", "0x00", "٠٠"] { #expect(Hexadecimal.bytes(text) == nil) }
  }
}
