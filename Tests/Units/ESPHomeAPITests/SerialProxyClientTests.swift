// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import ESPHomeAPI

/// A client's conversation with a node about a serial port, without I/O.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct SerialProxyClientTests {
  init() throws { try Sodium.load() }

  private typealias Node = NodeConversation.Node
  private typealias ID = NativeMessageID

  /// Both sides, which say what they have to say until both are silent.
  private struct Talk {
    var client: SerialProxyClient
    var node: NodeConversation
    var events: [SerialProxyClient.Event] = []

    init(_ made: Node, port: String? = nil, key: [UInt8]? = nil) {
      client = SerialProxyClient(label: "esphome://node", port: port, key: key ?? made.key, client: "test")
      node = NodeConversation(made)
      goOn()
    }

    mutating func goOn() {
      while true {
        let sent = client.takeOutput()
        if sent.isEmpty { return }
        take(node.take(sent))
      }
    }

    mutating func take(_ bytes: [UInt8]) { events += client.take(bytes) }

    mutating func ask(_ question: SerialProxyClient.Question) -> SerialProxyClient.Event? {
      _ = client.ask(question)
      goOn()
      return events.last
    }

    var isReady: Bool { events.contains { if case .ready = $0 { true } else { false } } }
    var error: AccessoryError? { if case .end(let error)? = events.last { error } else { nil } }
    var ids: [Int] { node.heard.map(\.id) }
  }

  private static let settings = SerialProxySettings(
    baudRate: 9_600, dataBits: 8, parity: .none, stopBits: 1, hasFlowControl: false)

  @Test(arguments: [false, true]) func aPortIsTakenAndSet(_ isEncrypted: Bool) {
    var node = Node()
    if isEncrypted { node.key = Array(0...31) }
    var talk = Talk(node)
    var reply: SerialProxyClient.Event?
    #expect(talk.events == [.ready(.init(index: 0, name: "Battery", outputs: 3))])
    #expect(
      talk.ids == [
        ID.hello, ID.login, ID.deviceInfo, ID.capabilities, ID.serialSubscribeIdentity, ID.serialRequest,
        ID.serialSetMode,
      ])
    reply = talk.ask(.configure(Self.settings))
    #expect(reply == .reply(.configure(Self.settings), .success(0)))
    #expect(talk.node.heard.last?.id == ID.serialConfigure && talk.node.heard.last?.numbers == [0, 9_600, 0, 0, 1, 8])
    reply = talk.ask(.setPins(2))
    #expect(reply == .reply(.setPins(2), .success(0)))
    reply = talk.ask(.getPins)
    #expect(reply == .reply(.getPins, .success(2)))
    for frame in talk.client.frames(of: Array(repeating: 7, count: 2_500)) { talk.take(talk.node.take(frame.bytes)) }
    #expect(talk.node.written.count == 2_500 && talk.node.heard.filter { $0.id == ID.serialWrite }.count == 3)
    talk.take(talk.node.data([1, 2, 3]))
    #expect(talk.events.last == .data([1, 2, 3]))
    // Another port's.
    talk.take(talk.node.data([4], port: 1))
    #expect(talk.events.last == .data([1, 2, 3]))
    let hasLeft = talk.client.leave()
    let again = talk.client.leave()
    #expect(hasLeft && !again)
    talk.goOn()
    #expect(talk.events.last == .left && talk.node.hasLeft)
    #expect(talk.node.heard.suffix(2).map(\.id) == [ID.serialRequest, ID.leave])
  }

  /// Nodes of each year: before 1.15 ports are told with the device, before 1.16 nothing is acknowledged, before 1.17 there is no mode,
  /// before 1.18 no identity.
  @Test(arguments: [14, 15, 16, 17, 18, 19]) func olderNodesAreUnderstood(_ minor: Int) {
    var node = Node()
    node.minor = minor
    node.tellsPortsOfDevice = minor < 16
    var talk = Talk(node)
    var reply: SerialProxyClient.Event?
    #expect(talk.isReady)
    #expect(talk.ids.contains(ID.capabilities) == (minor >= 15))
    #expect(talk.ids.contains(ID.serialSetMode) == (minor >= 17))
    #expect(talk.ids.contains(ID.serialSubscribeIdentity) == (minor >= 18))
    reply = talk.ask(.configure(Self.settings))
    #expect(reply == .reply(.configure(Self.settings), .success(0)))
    #expect(talk.node.pingCount == (minor < 16 ? 2 : 0))
  }

  @Test func aPortIsFoundByNumberAndByName() {
    var node = Node()
    node.ports = [("UART", 0), ("P1 meter", 0), ("0", 3)]
    #expect(Talk(node, port: "1").events == [.ready(.init(index: 1, name: "P1 meter", outputs: 0))])
    #expect(Talk(node, port: "P1 meter").events == [.ready(.init(index: 1, name: "P1 meter", outputs: 0))])
    // A name goes before a number.
    #expect(Talk(node, port: "0").events == [.ready(.init(index: 2, name: "0", outputs: 3))])
    let missing = Talk(node, port: "3").error
    #expect(missing?.kind == .notFound && missing?.message.contains("it has 0 (UART), 1 (P1 meter), 2 (0)") == true)
    let several = Talk(node).error
    #expect(several?.kind == .misconfigured && several?.message.contains("0 (UART), 1 (P1 meter)") == true)
    node.ports = []
    #expect(Talk(node).error?.message.contains("has no serial port") == true)
    #expect(Talk(node, port: "0").error?.kind == .notFound)
  }

  @Test func aRefusalSaysWhy() {
    var node = Node()
    node.isInUse = true
    #expect(Talk(node).error?.kind == .busy)
    node.isInUse = false
    node.statuses = [0: (2, "the cable is\u{1B}[31m gone"), 3: (6, ""), 4: (4, "no pins"), 5: (4, "")]
    #expect(Talk(node).error?.message.contains("the cable is") == true)
    #expect(Talk(node).error?.message.contains("\u{1B}") == false)
    node.statuses[0] = nil
    var talk = Talk(node)
    #expect(talk.isReady, "a node without other modes")
    guard case .reply(_, .failure(let error))? = talk.ask(.configure(Self.settings)) else {
      Issue.record("\(talk.events)")
      return
    }
    #expect(error.kind == .unsupported && error.message.contains("9600 baud, 8N1"))
    guard case .reply(_, .failure(let error))? = talk.ask(.setPins(3)) else {
      Issue.record("\(talk.events)")
      return
    }
    #expect(error.kind == .unsupported && error.message.contains("no pins"))
  }

  @Test func keysAndVersionsAreExplained() {
    var node = Node()
    node.key = Array(1...32)
    #expect(Talk(node, key: Array(0...31)).error?.message.contains("the key of esphome://node is wrong") == true)
    var open = SerialProxyClient(label: "esphome://node", port: nil, key: nil, client: "test")
    var encrypting = NodeConversation(node)
    guard case .end(let error)? = open.take(encrypting.take(open.takeOutput())).last else {
      Issue.record("no error")
      return
    }
    #expect(error.kind == .misconfigured && error.message.contains("--key-file"))
    #expect(Talk(Node(), key: Array(0...31)).error?.message.contains("doesn't encrypt") == true)
    node = Node()
    node.major = 3
    #expect(Talk(node).error?.kind == .unsupported)
    node = Node()
    node.wantsPassword = true
    #expect(Talk(node).error?.message.contains("password") == true)
  }

  @Test func aUSBDeviceThatGoesEndsTheLine() {
    var node = Node()
    node.identity = (2, 1)
    var talk = Talk(node)
    #expect(talk.isReady)
    talk.take(talk.node.identity(source: 2, flags: 1))
    #expect(talk.error == nil)
    talk.take(talk.node.identity(source: 2, flags: 0, port: 1))
    #expect(talk.error == nil, "another port's")
    talk.take(talk.node.identity(source: 2, flags: 0))
    #expect(talk.error?.kind == .disconnected)
    // It isn't there at the beginning.
    node.identity = (2, 0)
    #expect(Talk(node).error?.kind == .notFound)
    // A UART tells nothing about itself.
    node.identity = (0, 0)
    #expect(Talk(node).isReady)
  }

  @Test func pingsAndGoodByesAreAnswered() {
    var talk = Talk(Node())
    talk.take(talk.node.frame(ID.ping))
    var output = talk.client.takeOutput()
    #expect(output == [0, 0, 8])
    talk.client.ping()
    talk.goOn()
    #expect(talk.node.pingCount == 1)
    // An answer to nothing, and a message that nobody knows.
    talk.take(talk.node.frame(ID.pingReply) + talk.node.frame(36) + talk.node.frame(9_999))
    #expect(talk.error == nil)
    talk.take(talk.node.frame(ID.leave))
    output = talk.client.takeOutput()
    #expect(talk.error?.kind == .disconnected && output == [0, 0, 6])
    let wasAsked = talk.client.ask(.getPins)
    let frames = talk.client.frames(of: [1])
    #expect(!wasAsked && frames.isEmpty)
  }

  /// Whatever a node says at any time, the conversation stays bounded and doesn't trap.
  @Test func nonsenseTrapsNothing() {
    var generator = SeededGenerator(seed: 60)
    for _ in 0..<400 {
      var talk = Talk(Node())
      for _ in 0..<12 {
        let id = [2, 4, 5, 7, 8, 10, 139, 143, 147, 150, 155, 200].randomElement(using: &generator) ?? 0
        let payload = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
        var bytes: [UInt8] = [0]
        Varint.append(UInt64(payload.count), to: &bytes)
        Varint.append(UInt64(id), to: &bytes)
        if Bool.random(using: &generator) { _ = talk.client.ask(.getPins) }
        talk.take(bytes + payload)
        let output = talk.client.takeOutput()
        #expect(output.count < 4_096)
      }
    }
    // Questions that are never answered have a limit.
    var node = Node()
    node.isSilentAbout = [ID.serialGetPins]
    var talk = Talk(node)
    var asked = 0
    while talk.client.ask(.getPins), asked < 1_000 { asked += 1 }
    #expect(asked == 64)
    talk.client.forget(.getPins)
    let isAsked = talk.client.ask(.getPins)
    #expect(isAsked)
  }

  @Test func lateNodesAreToldApart() {
    let silent = SerialProxyClient(label: "esphome://node", port: nil, key: nil, client: "test")
    #expect(silent.lateness.kind == .timedOut && silent.lateness.message.contains("is the address right"))
    var node = Node()
    node.isSilentAbout = [ID.serialRequest]
    #expect(Talk(node).client.lateness.message.contains("did not answer a request about its serial port"))
  }
}
