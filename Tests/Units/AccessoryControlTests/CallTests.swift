// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Glibc
import TestSupport
import Testing

@Suite("Calls", .timeLimit(.minutes(Patience.minutes(2)))) struct CallTests {
  @Test func everyAnswerIsAsTheInterfaceHasIt() async throws {
    let sample = try await SampleServer()
    let interface = try InterfaceDescription(Bridge.text)
    let client = try await sample.client()
    // For the calls that concern the line of what is lent.
    let (opened, transport) = try await sample.client().upgrade(Bridge.Open())
    let output = try #require(interface.methods["Open"]).output
    #expect(interface.firstProblem(in: try #require(try JSON(encoding: opened).fields), output) == nil)
    let loan = JSON.string(try #require(opened.loan))
    let parameters: [String: [String: JSON]] = [
      "LineFacts": ["loan": loan], "ChangeLine": ["loan": loan, "parity": .string("even")],
      "ModemLines": ["loan": loan],
      "SetModemLines": ["loan": loan, "modem_lines": .object(["dtr": .bool(true)])],
      "SetBreak": ["loan": loan, "on": .bool(true)],
      "Purge": ["loan": loan, "received": .bool(true), "unsent": .bool(false)],
      "Request": ["command": .string("echo"), "payload_hex": .string("00ff")], "Attach": ["device": .string("X1")],
      "Expect": ["device": .string("X1")],
      "Perform": [
        "commands": .array([.object(["name": .string("a"), "arguments": .object(["speed": .string("1")])])])
      ],
      "ListFolder": ["path": .string("/")], "MakeFolder": ["path": .string("/")], "Remove": ["path": .string("/")],
      "SupplyFile": ["transfer": .string("t"), "offset": .int(0), "bytes_hex": .string("00ff")],
    ]
    let streams = ["Subscribe", "Trace", "GetFile", "SendFile"]
    for (name, method) in interface.methods where !streams.contains(name) && !["Open", "Share"].contains(name) {
      let reply = try await client.call("\(Bridge.name).\(name)", parameters[name] ?? [:])
      #expect(interface.firstProblem(in: reply, method.output) == nil, "\(name)")
      // A field that the types don't have would have got lost, one that the interface doesn't have is found above.
      #expect(method.output.allSatisfy { field in reply[field.name] != nil || field.isOptional }, "\(name)")
    }
    for name in streams {
      let more = [
        "GetFile": #","path":"5""#, "SendFile": #","path":"x","size_bytes":3"#,
      ]
      let raw = try RawClient(sample.path)
      try await raw.send(
        #"{"method":"accessorybridge.Bridge.\#(name)","parameters":{"device":"X1"\#(more[name] ?? "")},"more":true}"#)
      raw.endSending()
      let messages = try await raw.messages()
      #expect(messages.count >= 3)
      let ends = more[name] != nil
      for message in ends ? messages[...] : messages.dropLast() {
        let reply = try #require(ReplyMessage(message))
        let problem = interface.firstProblem(in: try reply.outcome.get(), try #require(interface.methods[name]).output)
        #expect(reply.continues != (ends && message == messages.last) && problem == nil, "\(name): \(problem ?? "")")
      }
      if ends { continue }
      let last = try #require(messages.last.flatMap { ReplyMessage($0) })
      #expect(!last.continues && failed(last.outcome, "accessorybridge.Bridge.Cancelled"))
    }
    await transport.close()
    await sample.server.close()
  }

  private func failed(_ outcome: Result<[String: JSON], CallError>, _ name: String) -> Bool {
    if case .failure(let error) = outcome { error.name == name } else { false }
  }

  @Test func answersArriveAsTheyWereGiven() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let list = try await client.call(Bridge.List())
    #expect(list.accessories == [SampleBridge.accessory])
    let battery = try await client.call(Bridge.GetBattery())
    #expect(battery == Bridge.GetBattery.Reply(device: SampleBridge.device, Read(SampleBridge.battery)))
    let request = try await client.call(Bridge.Request(command: "echo", payload: pattern(300)))
    #expect(request.reply.payload == pattern(300) && request.command_byte == 0x12)
    let values = try await client.call(
      Bridge.Perform(commands: [.init("turn", ["speed": "a\u{1b}"]), .init("b")])
    ).replies.map(\.values)
    #expect(
      values == [
        [
          .whole(-1), .number(0.18), .text("a\u{1b}"), .list([.nothing]), .bytes([0x00, 0xFF]), .flag(true), .nothing,
        ],
        [.whole(-1), .number(0.18), .text("a\u{1b}"), .list([.nothing]), .bytes([0x00, 0xFF]), .flag(true), .nothing],
      ])
    let commands = try await client.call(Bridge.GetCommands()).commands
    #expect(commands.first?.arguments.first?.kind == .whole(-100...100) && commands.first?.results.first?.unit == "°")
    let peer = try #require(sample.bridge.seen.value.callers.last)
    #expect(peer.process == getpid() && peer.user == geteuid() && peer.groups.contains(getegid()))
    await sample.server.close()
  }

  @Test func errorsArriveAsTheyWereGiven() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let missing = await #expect(throws: ControlError.self) { try await client.call(Bridge.GetStatus(device: "Y")) }
    #expect(missing?.accessoryError == AccessoryError(.notFound, "there is no Y"))
    let refused = await #expect(throws: ControlError.self) { try await client.call(Bridge.Request(command: "x")) }
    #expect(refused?.accessoryError == AccessoryError(.refused, code: .refusal(2), "no such command"))
    let ambiguous = await #expect(throws: ControlError.self) { try await client.call(Bridge.GetInfo(device: "X")) }
    guard case .answer(let error)? = ambiguous else { throw Hang("an answer") }
    #expect(error.candidates == ["X1", "X2"])
    await sample.server.close()
  }

  @Test func theServiceDescribesItself() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let information = try await client.call("org.varlink.service.GetInfo")
    #expect(information["product"] == .string("Sample"))
    #expect(information["interfaces"] == .array([.string("org.varlink.service"), .string(Bridge.name)]))
    for name in ["org.varlink.service", Bridge.name] {
      let reply = try await client.call("org.varlink.service.GetInterfaceDescription", ["interface": .string(name)])
      let text = try #require(reply["description"]?.text)
      let interface = try InterfaceDescription(text)
      #expect(interface.name == name && (name != Bridge.name || text == Bridge.text))
    }
    await sample.server.close()
  }

  @Test(arguments: [
    ("nothing", "{}", "InterfaceNotFound", "nothing"),
    ("org.example.A", "{}", "InterfaceNotFound", "org.example"),
    ("", "{}", "InterfaceNotFound", ""),
    ("accessorybridge.Bridge.Frobnicate", "{}", "MethodNotFound", "accessorybridge.Bridge.Frobnicate"),
    ("org.varlink.service.GetInterfaceDescription", "{}", "InvalidParameter", "interface"),
    ("org.varlink.service.GetInterfaceDescription", #"{"interface":"x.y"}"#, "InterfaceNotFound", "x.y"),
    ("accessorybridge.Bridge.Battery", #"{"device":1}"#, "InvalidParameter", "device"),
    ("accessorybridge.Bridge.Battery", #"{"devise":"X1"}"#, "InvalidParameter", "devise"),
    ("accessorybridge.Bridge.Request", "{}", "InvalidParameter", "command"),
    ("accessorybridge.Bridge.Request", #"{"command":"echo","payload_hex":"0"}"#, "InvalidParameter", "payload_hex"),
    ("accessorybridge.Bridge.Request", #"{"command":"echo","timeout_ms":1e400}"#, "InvalidParameter", "timeout_ms"),
    ("accessorybridge.Bridge.Request", #"{"command":"echo","timeout_ms":1.5}"#, "InvalidParameter", "timeout_ms"),
    ("accessorybridge.Bridge.Open", "{}", "InvalidParameter", "upgrade"),
    ("accessorybridge.Bridge.Share", #"{"access":"read"}"#, "InvalidParameter", "upgrade"),
    ("accessorybridge.Bridge.Share", #"{"access":"all"}"#, "InvalidParameter", "access"),
    ("accessorybridge.Bridge.Share", "{}", "InvalidParameter", "access"),
    ("accessorybridge.Bridge.Share", #"{"access":"read","by":"words"}"#, "InvalidParameter", "by"),
    ("accessorybridge.Bridge.Subscribe", "{}", "ExpectedMore", ""),
    ("accessorybridge.Bridge.GetFile", #"{"path":"1"}"#, "ExpectedMore", ""),
    ("accessorybridge.Bridge.SendFile", #"{"path":"1","size_bytes":1}"#, "ExpectedMore", ""),
    ("accessorybridge.Bridge.Perform", "{}", "InvalidParameter", "commands"),
    (
      "accessorybridge.Bridge.Perform", #"{"commands":[{"name":"a","arguments":{"b":1}}]}"#, "InvalidParameter",
      "commands.0.arguments.b"
    ),
    (
      "accessorybridge.Bridge.SupplyFile", #"{"transfer":"t","offset":0,"bytes_hex":"0"}"#, "InvalidParameter",
      "bytes_hex"
    ),
    (
      "accessorybridge.Bridge.SupplyFile", #"{"transfer":"u","offset":0,"bytes_hex":"00"}"#, "InvalidParameter",
      "transfer"
    ),
  ])
  func mistakesInACallAreNamed(_ method: String, _ parameters: String, _ error: String, _ field: String) async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    let fields = try #require(JSON(Array(parameters.utf8)).fields)
    let thrown = await #expect(throws: ControlError.self) { try await client.call(method, fields) }
    guard case .answer(let answer)? = thrown else { throw Hang("an answer, not \(String(describing: thrown))") }
    #expect(answer.name == "org.varlink.service.\(error)")
    #expect((answer.parameters.values.first?.text ?? "") == field)
    // And the connection is as good as before.
    _ = try await client.call(Bridge.List())
    await sample.server.close()
  }

  @Test func callsOnOneConnectionAreAnsweredInOrder() async throws {
    let sample = try await SampleServer()
    let raw = try RawClient(sample.path)
    var text = ""
    for index in 0..<200 {
      let hex = Hexadecimal.string([UInt8(index)])
      text +=
        #"{"method":"accessorybridge.Bridge.Request","parameters":{"command":"echo","payload_hex":"\#(hex)"}}"# + "\0"
      text += #"{"method":"accessorybridge.Bridge.Detach","parameters":{"device":"\#(index)"},"oneway":true}"# + "\0"
    }
    try await raw.send(Array(text.utf8))
    raw.endSending()
    let payloads = try await raw.messages().map {
      try ReplyMessage($0)?.outcome.get()["reply"]?.fields?["payload_hex"]?.text
    }
    #expect(payloads == (0..<200).map { Hexadecimal.string([UInt8($0)]) })
    #expect(sample.bridge.seen.value.detached == (0..<200).map { "\($0)" })
    await sample.server.close()
  }

  @Test func aHundredClientsAreAnsweredAtOnce() async throws {
    let sample = try await SampleServer()
    let path = sample.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<100 {
        group.addTask {
          let client = try await ControlClient.connect(to: path)
          for round in 0..<20 {
            let payload = pattern(index + round)
            let reply = try await client.call(Bridge.Request(command: "echo", payload: payload))
            #expect(reply.reply.payload == payload)
          }
        }
      }
      try await group.waitForAll()
    }
    try await sample.clients.wait { $0 == 0 }
    await sample.server.close()
  }

  @Test func longAnswersArriveWhole() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    // 2 MB of payload, 4 MB of text: more than a socket holds, and than a stream may leave unread.
    let reply = try await client.call(Bridge.Request(command: "big", payload: [0x1E, 0x84, 0x80]))
    #expect(reply.reply.payload == pattern(2_000_000))
    await sample.server.close()
  }
}

extension InterfaceDescription.Field {
  fileprivate var isOptional: Bool { if case .optional = type { true } else { false } }
}
