// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A client's conversation with a node about one of its serial ports ("serial proxy"), as a value: it finds the port, takes it for itself,
/// and passes its bytes. No clock, no I/O.
package struct SerialProxyClient: Sendable {
  /// A serial port of the node.
  package struct Port: Sendable, Hashable {
    var index: UInt32
    var name: String
    /// The modem lines that can be set: bit 0 is RTS, bit 1 is DTR.
    package var outputs: UInt32
  }

  /// What is asked about the port.
  package enum Question: Sendable, Hashable {
    case subscribe, unsubscribe, setMode
    case configure(SerialProxySettings)
    /// Sets the modem lines to these bits.
    case setPins(UInt32)
    case getPins

    /// The number by which a reply names the question.
    fileprivate var type: UInt32? {
      switch self {
      case .subscribe: 0
      case .unsubscribe: 1
      case .configure: 3
      case .setPins: 4
      case .setMode: 5
      case .getPins: nil
      }
    }
  }

  /// What happened.
  package enum Event: Sendable, Hashable {
    /// The port is ours.
    case ready(Port)
    /// Bytes from the port.
    case data(ArraySlice<UInt8>)
    /// The reply to a question; of `getPins` with the bits of the lines, of others with 0.
    case reply(Question, Result<UInt32, AccessoryError>)
    /// The node has said good-bye, too.
    case left
    /// The connection is of no more use.
    case end(AccessoryError)
  }

  private enum Stage: Sendable, Hashable {
    case handshake, hello, ports, opening, open, leaving, ended
  }

  private let label: String
  private let wanted: String?
  private let client: String
  private var line: NativeLine
  private var stage = Stage.handshake
  private var output: [UInt8] = []
  private var minor: UInt32 = 0
  /// The ports as each of two messages tells them; nil until it has come.
  private var portsOfDevice, portsOfCapabilities: [Port]?
  private var port: Port?
  /// Whether the port's USB device was seen at the node.
  private var wasConnected = false
  private var questions: [Question] = []
  /// The pings that aren't answered. A node before 1.16 doesn't reply to questions: the answer to a ping behind one counts as its reply.
  private var pings: [Question?] = []

  /// The most bytes of one write. A node has little memory.
  private static let pieceLimit = 1_024
  /// The most fields of a message of a node: it has at most 255 ports.
  private static let fieldLimit = 4_096
  private static let questionLimit = 64
  private static let portLimit = 256

  /// A conversation about the port with the number or the name `port`, the only one for nil, of the node that is called `label` in errors. It
  /// is encrypted with `key`, if there is one. `client` is this program's name for the node's log.
  package init(
    label: String, port: String?, key: [UInt8]?, client: String,
    secret: @escaping @Sendable () -> [UInt8] = { Sodium.random(Sodium.keyLength) }
  ) {
    (self.label, wanted, self.client) = (label, port, client)
    line = NativeLine(clientWith: key, secret: secret)
    greet()
  }

  /// Takes what is to be sent to the node.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return line.takeOutput() + output
  }

  /// Takes bytes from the node.
  package mutating func take(_ bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    line.take(bytes)
    while stage != .ended {
      let outcome = line.next()
      greet()
      switch outcome {
      case .nothing: return events
      case .end(let reason): end(line.problem.map(failure) ?? bad(reason), &events)
      case .message(let message): use(message, &events)
      }
    }
    return events
  }

  /// The frames that have the node write bytes to the port, and for each the number of its bytes.
  package mutating func frames(of bytes: [UInt8]) -> [(bytes: [UInt8], count: Int)] {
    guard let port, stage != .ended else { return [] }
    return stride(from: 0, to: bytes.count, by: Self.pieceLimit).map { start in
      let piece = Array(bytes[start..<min(start + Self.pieceLimit, bytes.count)])
      var writer = ProtobufWriter()
      writer.put(1, UInt64(port.index))
      writer.put(2, piece)
      return (line.frame(NativeMessageID.serialWrite, writer.bytes), piece.count)
    }
  }

  /// Asks the node. Returns false when too many questions wait.
  package mutating func ask(_ question: Question) -> Bool {
    guard let port, stage != .ended, questions.count < Self.questionLimit else { return false }
    let id: Int
    var writer = ProtobufWriter()
    writer.put(1, UInt64(port.index))
    switch question {
    case .subscribe, .unsubscribe:
      id = NativeMessageID.serialRequest
      writer.put(2, UInt64(question.type ?? 0))
    case .setMode: id = NativeMessageID.serialSetMode
    case .configure(let settings):
      id = NativeMessageID.serialConfigure
      settings.put(into: &writer)
    case .setPins(let pins):
      id = NativeMessageID.serialSetPins
      writer.put(2, UInt64(pins))
    case .getPins: id = NativeMessageID.serialGetPins
    }
    send(id, writer.bytes)
    questions.append(question)
    if minor < 16, question != .getPins { ping(behind: question) }
    return true
  }

  /// Nobody waits for the oldest reply to such a question any more.
  package mutating func forget(_ question: Question) {
    if let index = questions.firstIndex(of: question) { questions.remove(at: index) }
  }

  /// Asks whether the node is there.
  package mutating func ping() { ping(behind: nil) }

  /// Gives the port back, and says good-bye. Returns whether an answer, `left`, will come: a node that writes it to a closed connection may
  /// take that for an error.
  package mutating func leave() -> Bool {
    guard ![.leaving, .ended].contains(stage), line.isOpen else { return false }
    if port != nil { _ = ask(.unsubscribe) }
    send(NativeMessageID.leave)
    stage = .leaving
    return true
  }

  /// The error where the node took too long to open the port.
  package var lateness: AccessoryError {
    switch stage {
    case .handshake, .hello:
      AccessoryError(.timedOut, "\(label) doesn't answer as the native API of an ESPHome node: is the address right?")
    default: AccessoryError(.timedOut, "the node of \(label) did not answer a request about its serial port")
    }
  }

  // MARK: - Opening

  private mutating func send(_ id: Int, _ payload: [UInt8] = []) { output += line.frame(id, payload) }

  private mutating func ping(behind question: Question?) {
    guard stage != .ended, pings.count < Self.questionLimit else { return }
    pings.append(question)
    send(NativeMessageID.ping)
  }

  /// Says hello as soon as it can be said.
  private mutating func greet() {
    guard stage == .handshake, line.isOpen else { return }
    stage = .hello
    var writer = ProtobufWriter()
    writer.put(1, client)
    writer.put(2, 1)
    writer.put(3, 18)
    send(NativeMessageID.hello, writer.bytes)
    // Nodes before 2026.1 do nothing for a client that hasn't sent it.
    send(NativeMessageID.login)
  }

  private mutating func use(_ message: NativeLine.Message, _ events: inout [Event]) {
    typealias ID = NativeMessageID
    switch message.id {
    case ID.helloReply, ID.loginReply, ID.deviceInfoReply, ID.capabilitiesReply, ID.serialReceived, ID.serialReply,
      ID.serialPins, ID.serialIdentity:
      guard let fields = ProtobufFields(message.payload, limit: Self.fieldLimit) else {
        return end(bad("message \(message.id) can't be read"), &events)
      }
      use(message.id, fields, &events)
    case ID.leaveReply where stage == .leaving:
      stage = .ended
      events.append(.left)
    case ID.ping: send(ID.pingReply)
    case ID.pingReply:
      guard !pings.isEmpty, let question = pings.removeFirst(), questions.contains(question) else { return }
      forget(question)
      replied(question, .success(0), &events)
    case ID.leave:
      send(ID.leaveReply)
      end(AccessoryError(.disconnected, "the node of \(label) has ended the connection"), &events)
    // Others are for clients that have subscribed to more, or newer.
    default: break
    }
  }

  private mutating func use(_ id: Int, _ fields: ProtobufFields, _ events: inout [Event]) {
    typealias ID = NativeMessageID
    switch id {
    case ID.helloReply where stage == .hello:
      guard (1...2).contains(fields.number(1)) else {
        return end(AccessoryError(.unsupported, "\(label) has version \(fields.number(1)) of the native API"), &events)
      }
      minor = fields.number(2)
      stage = .ports
      send(ID.deviceInfo)
      // Ports are told there from 1.15 on.
      if minor >= 15 { send(ID.capabilities) } else { portsOfCapabilities = [] }
    case ID.loginReply where fields.flag(1):
      end(
        AccessoryError(
          .unsupported, "\(label) wants a password, as old nodes do: give it encryption with a key instead"), &events)
    case ID.deviceInfoReply where stage == .ports:
      portsOfDevice = Self.ports(fields.all(25))
      choose(&events)
    case ID.capabilitiesReply where stage == .ports:
      portsOfCapabilities = Self.ports(fields.all(4))
      choose(&events)
    case ID.serialReceived where fields.number(1) == port?.index && stage == .open:
      events.append(.data(fields.bytes(2)))
    case ID.serialReply where fields.number(1) == port?.index:
      guard let question = questions.first(where: { $0.type == fields.number(2) }) else { return }
      forget(question)
      replied(question, result(fields.number(3), fields.text(4), question), &events)
    case ID.serialPins where fields.number(1) == port?.index && questions.contains(.getPins):
      forget(.getPins)
      replied(.getPins, result(fields.number(3), "", .getPins).map { _ in fields.number(2) }, &events)
    case ID.serialIdentity where fields.number(1) == port?.index: identified(fields, &events)
    default: break
    }
  }

  private static func ports(_ messages: [ArraySlice<UInt8>]) -> [Port] {
    messages.prefix(portLimit).enumerated().map { index, message in
      let fields = ProtobufFields(message)
      return Port(index: UInt32(index), name: fields?.text(1) ?? "", outputs: (fields?.number(3) ?? 0) & 3)
    }
  }

  private mutating func choose(_ events: inout [Event]) {
    guard let portsOfDevice, let portsOfCapabilities else { return }
    let ports = portsOfCapabilities.isEmpty ? portsOfDevice : portsOfCapabilities
    let found = wanted.map { wanted in
      ports.first { $0.name == wanted } ?? ports.first { String($0.index) == wanted }
    }
    guard let port = found ?? (wanted == nil && ports.count == 1 ? ports[0] : nil) else {
      return end(missing(ports), &events)
    }
    self.port = port
    stage = .opening
    if minor >= 18 { send(NativeMessageID.serialSubscribeIdentity) }
    _ = ask(.subscribe)
  }

  private func missing(_ ports: [Port]) -> AccessoryError {
    let names =
      ports.prefix(16).map { port in
        "\(port.index)" + (port.name.isEmpty ? "" : " (\(SafeText.escape(port.name, limit: 64)))")
      }.joined(separator: ", ") + (ports.count > 16 ? ", …" : "")
    guard !ports.isEmpty else {
      return AccessoryError(.notFound, "the node of \(label) has no serial port: its configuration has no serial_proxy")
    }
    guard wanted != nil else {
      return AccessoryError(
        .misconfigured, "the node of \(label) has several serial ports, say which, as esphome://HOST/PORT: \(names)")
    }
    return AccessoryError(.notFound, "the node of \(label) has no such serial port; it has \(names)")
  }

  // MARK: - Replies

  private mutating func replied(
    _ question: Question, _ result: Result<UInt32, AccessoryError>, _ events: inout [Event]
  ) {
    guard stage == .opening else { return events.append(.reply(question, result)) }
    switch (question, result) {
    case (.subscribe, .failure(let error)): end(error, &events)
    // A node of another maker may have no other mode than that of bytes.
    case (.subscribe, _) where minor >= 17: _ = ask(.setMode)
    case (.subscribe, _), (.setMode, _):
      stage = .open
      if let port { events.append(.ready(port)) }
    default: break
    }
  }

  private func result(_ status: UInt32, _ text: String, _ question: Question) -> Result<UInt32, AccessoryError> {
    // OK, and "assumed success" of a port that can't tell.
    if status <= 1 { return .success(0) }
    let reason = text.isEmpty ? "" : ": " + SafeText.escape(text, limit: 200)
    switch (status, question) {
    case (5, _):
      return .failure(AccessoryError(.busy, "\(label) is in use by another client of the node" + reason))
    case (3, _): return .failure(AccessoryError(.timedOut, "the node of \(label) took too long" + reason))
    case (4, .configure(let settings)), (6, .configure(let settings)):
      return .failure(AccessoryError(.unsupported, "\(label) can't be set to \(settings)" + reason))
    case (4, _), (6, _):
      return .failure(AccessoryError(.unsupported, "the node can't do that with \(label)" + reason))
    default:
      return .failure(AccessoryError(.refused, "the node of \(label) has refused a request about the port" + reason))
    }
  }

  /// A port that is a USB device of the node comes and goes; another one tells nothing about itself.
  private mutating func identified(_ fields: ProtobufFields, _ events: inout [Event]) {
    if fields.number(3) & 1 != 0 {
      wasConnected = true
    } else if wasConnected || fields.number(2) != 0 {
      end(
        wasConnected
          ? AccessoryError(.disconnected, "\(label) was disconnected from its node")
          : AccessoryError(.notFound, "nothing is plugged in at \(label)"), &events)
    }
  }

  // MARK: - Ending

  private mutating func end(_ error: AccessoryError, _ events: inout [Event]) {
    guard stage != .ended else { return }
    stage = .ended
    events.append(.end(error))
  }

  private func bad(_ reason: String) -> AccessoryError {
    AccessoryError(.badData, "the node of \(label) sent what makes no sense (\(reason))")
  }

  private func failure(_ problem: NativeLine.Problem) -> AccessoryError {
    switch problem {
    case .needsKey:
      AccessoryError(
        .misconfigured,
        "\(label) encrypts, and its key is missing: put the key of its configuration (api: encryption: key) into a file, and name "
          + "the file by --key-file, or in a profile, as transport: {esphome: {key_file: /PATH}}")
    case .needsNoKey:
      AccessoryError(
        .misconfigured, "\(label) doesn't encrypt, and a key was given: leave it out, or give the node the key")
    case .otherKey:
      AccessoryError(
        .misconfigured, "the key of \(label) is wrong: its configuration has the right one (api: encryption: key)")
    case .isSomethingElse:
      AccessoryError(.badData, "\(label) doesn't speak the native API of ESPHome: is the port right?")
    case .refused(let reason):
      AccessoryError(.refused, "\(label) has refused the connection: \(SafeText.escape(reason, limit: 200))")
    }
  }
}

/// The settings of a serial port as the native API has them.
package struct SerialProxySettings: Sendable, Hashable, CustomStringConvertible {
  /// The parity bit.
  package enum Parity: Int, Sendable, Hashable {
    case none, even, odd
  }

  package var baudRate: UInt32
  package var dataBits: Int
  package var parity: Parity
  package var stopBits: Int
  /// RTS and CTS.
  package var hasFlowControl: Bool

  package init(baudRate: UInt32, dataBits: Int, parity: Parity, stopBits: Int, hasFlowControl: Bool) {
    (self.baudRate, self.dataBits, self.parity) = (baudRate, dataBits, parity)
    (self.stopBits, self.hasFlowControl) = (stopBits, hasFlowControl)
  }

  fileprivate func put(into writer: inout ProtobufWriter) {
    writer.put(2, UInt64(baudRate))
    writer.put(3, hasFlowControl)
    writer.put(4, parity.rawValue)
    writer.put(5, stopBits)
    writer.put(6, dataBits)
  }

  /// "9600 baud, 8N1".
  package var description: String {
    let letter =
      switch parity {
      case .none: "N";
      case .even: "E";
      case .odd: "O"
      }
    return "\(baudRate) baud, \(dataBits)\(letter)\(stopBits)" + (hasFlowControl ? ", hardware flow control" : "")
  }
}
