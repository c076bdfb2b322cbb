// SPDX-License-Identifier: Apache-2.0

import ESPHomeAPI

/// What a node of ESPHome with serial ports says on a connection, as a value.
package struct NodeConversation: Sendable {
  /// How the node is made.
  package struct Node: Sendable {
    package var key: [UInt8]?
    package var major = 1
    package var minor = 18
    package var ports = [(name: "Battery", outputs: 3)]
    /// Whether it tells its ports in the answer about the device, too, or alone.
    package var tellsPortsOfDevice = true
    /// Whether another client has the port.
    package var isInUse = false
    /// The statuses of its replies, by the numbers of questions.
    package var statuses: [Int: (status: Int, text: String)] = [:]
    /// What it doesn't answer.
    package var isSilentAbout: Set<Int> = []
    /// What it tells of its ports at the beginning: the source, and the flags.
    package var identity = (source: 0, flags: 0)
    package var wantsPassword = false

    package init() {}

    fileprivate func put(_ field: Int, _ writer: inout ProtobufWriter) {
      for port in ports {
        writer.put(
          field,
          message: { inner in
            inner.put(1, port.name)
            inner.put(3, port.outputs)
          })
      }
    }
  }

  /// A message of the client, with what it says.
  package struct Heard: Sendable, Hashable {
    package var id: Int
    package var numbers: [Int]
    package var bytes: [UInt8]
  }

  private let node: Node
  private var line: NativeLine
  /// What has come, but for pings.
  package private(set) var heard: [Heard] = []
  package private(set) var pingCount = 0
  package private(set) var written: [UInt8] = []
  /// The modem lines.
  package private(set) var pins = 0
  package private(set) var hasLeft = false
  /// What it was told at the end of the line.
  package private(set) var end: String?

  package init(_ node: Node) {
    self.node = node
    line = NativeLine(psk: node.key, name: "node", mac: "020304050607")
  }

  /// Takes bytes of the client. Returns the node's.
  package mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    line.take(bytes)
    var answer: [UInt8] = []
    while end == nil {
      let outcome = line.next()
      answer += line.takeOutput()
      switch outcome {
      case .nothing: return answer
      case .end(let reason): end = reason
      case .message(let message): answer += self.answer(message)
      }
    }
    return answer
  }

  /// A frame of the node.
  package mutating func frame(_ id: Int, _ fields: (inout ProtobufWriter) -> Void = { _ in }) -> [UInt8] {
    var writer = ProtobufWriter()
    fields(&writer)
    return line.frame(id, writer.bytes)
  }

  /// Bytes from a port.
  package mutating func data(_ bytes: [UInt8], port: Int = 0) -> [UInt8] {
    frame(NativeMessageID.serialReceived) {
      $0.put(1, port)
      $0.put(2, bytes)
    }
  }

  /// What the node tells of a port.
  package mutating func identity(source: Int, flags: Int, port: Int = 0) -> [UInt8] {
    frame(NativeMessageID.serialIdentity) {
      $0.put(1, port)
      $0.put(2, source)
      $0.put(3, flags)
    }
  }

  private mutating func answer(_ message: NativeLine.Message) -> [UInt8] {
    typealias ID = NativeMessageID
    let (node, pins) = (node, pins)
    guard let fields = ProtobufFields(message.payload) else { return [] }
    if message.id == ID.ping {
      pingCount += 1
      return node.isSilentAbout.contains(ID.ping) ? [] : frame(ID.pingReply)
    }
    heard.append(Heard(id: message.id, numbers: (1...6).map { Int(fields.number($0)) }, bytes: Array(fields.bytes(2))))
    guard !node.isSilentAbout.contains(message.id) else { return [] }
    let (port, second) = (Int(fields.number(1)), Int(fields.number(2)))
    switch message.id {
    case ID.hello:
      return frame(ID.helloReply) {
        $0.put(1, node.major)
        $0.put(2, node.minor)
        $0.put(4, "node")
      }
    case ID.login: return frame(ID.loginReply) { $0.put(1, node.wantsPassword) }
    case ID.leave:
      hasLeft = true
      return frame(ID.leaveReply)
    case ID.deviceInfo: return frame(ID.deviceInfoReply) { if node.tellsPortsOfDevice { node.put(25, &$0) } }
    case ID.capabilities: return frame(ID.capabilitiesReply) { node.put(4, &$0) }
    case ID.serialSubscribeIdentity:
      return node.ports.indices.reduce(into: []) {
        $0 += identity(source: node.identity.source, flags: node.identity.flags, port: $1)
      }
    case ID.serialRequest: return reply(port, second, second == 0 && node.isInUse ? (5, "") : nil)
    case ID.serialConfigure: return reply(port, 3)
    case ID.serialSetPins:
      self.pins = second
      return reply(port, 4)
    case ID.serialSetMode: return reply(port, 5)
    case ID.serialGetPins:
      return frame(ID.serialPins) {
        $0.put(1, port)
        $0.put(2, pins)
      }
    case ID.serialWrite:
      written += fields.bytes(2)
      return []
    default: return []
    }
  }

  /// The reply to a question. Nodes before 1.16 have none.
  private mutating func reply(_ port: Int, _ type: Int, _ other: (status: Int, text: String)? = nil) -> [UInt8] {
    guard node.minor >= 16 else { return [] }
    let (status, text) = other ?? node.statuses[type] ?? (0, "")
    return frame(NativeMessageID.serialReply) {
      $0.put(1, port)
      $0.put(2, type)
      $0.put(3, status)
      $0.put(4, text)
    }
  }
}
