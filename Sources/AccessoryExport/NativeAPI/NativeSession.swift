// SPDX-License-Identifier: Apache-2.0

import ESPHomeAPI

/// A client's conversation with the server of the native API, as a value. No clock, no I/O.
struct NativeSession: Sendable {
  /// What comes of a client's bytes.
  struct Outcome: Sendable {
    /// What is to be sent.
    var bytes: [UInt8] = []
    /// What is to be done.
    var commands: [NativeCommand] = []
    /// What is asked of serial ports, in this order.
    var calls: [NativePortCall] = []
    /// The connection ends after the bytes were sent. The reason is for the log; empty for an ordinary end.
    var end: String?
  }

  private var line: NativeLine
  /// The connection's number.
  let connection: Int
  /// How the client calls itself.
  private(set) var client = ""
  /// Whether the client's version of the interface has answers to all requests about serial ports.
  private(set) var knowsAnswers = false
  private(set) var hasSaidHello = false
  /// Whether the server has asked the client to leave.
  private(set) var isLeaving = false
  private var wantsStates = false
  /// The entities and devices that the client knows.
  private var listed: (devices: [NativeBox.Device], entities: [NativeEntity])?
  /// The serial ports that the client knows.
  private var listedPorts: [NativePort.Facts]?
  var wantsIdentities = false
  private var sent: [NativeEntity.ID: NativeState?] = [:]

  init(_ line: NativeLine, connection: Int) { (self.line, self.connection) = (line, connection) }

  /// Takes bytes from the client, and answers from the state of the box. `table` is changed where the client claims a serial port or gives
  /// it back.
  mutating func take(_ bytes: [UInt8], _ box: NativeBox, _ table: inout NativePortTable) -> Outcome {
    line.take(bytes)
    var outcome = Outcome()
    while outcome.end == nil {
      switch line.next() {
      case .nothing:
        outcome.bytes += line.takeOutput()
        return outcome
      case .end(let reason):
        outcome.bytes += line.takeOutput()
        outcome.end = reason
      case .message(let message):
        outcome.bytes += line.takeOutput()
        answer(message, box, &table, &outcome)
      }
    }
    return outcome
  }

  mutating func frame(_ made: NativeMessage.Made) -> [UInt8] { line.frame(made.id, made.payload) }

  mutating func send(_ made: NativeMessage.Made, _ outcome: inout Outcome) { outcome.bytes += frame(made) }

  private mutating func answer(
    _ message: NativeLine.Message, _ box: NativeBox, _ table: inout NativePortTable, _ outcome: inout Outcome
  ) {
    typealias ID = NativeMessage.ID
    guard let fields = ProtobufFields(message.payload) else {
      outcome.end = "message \(message.id) can't be read"
      return
    }
    switch message.id {
    case ID.ping: return send((ID.pingReply, []), &outcome)
    case ID.hello:
      client = String(fields.text(1).prefix(64))
      knowsAnswers = (fields.number(2), fields.number(3)) >= (1, 16)
      hasSaidHello = true
      return send(NativeMessage.hello(box), &outcome)
    default: break
    }
    guard hasSaidHello else {
      outcome.end = "message \(message.id) came before its hello"
      return
    }
    switch message.id {
    // There are no passwords; older clients wait for the answer.
    case ID.login: send((ID.loginReply, []), &outcome)
    case ID.leave:
      send((ID.leaveReply, []), &outcome)
      outcome.end = ""
    case ID.leaveReply: outcome.end = ""
    case ID.deviceInfo:
      listedPorts = table.ports.map(\.facts)
      send(NativeMessage.deviceInfo(box, table.ports), &outcome)
    case ID.capabilities: send(NativeMessage.capabilities(table.ports), &outcome)
    case ID.listEntities:
      listed = (box.devices, box.entities)
      for entity in box.entities { send(NativeMessage.list(entity), &outcome) }
      send((ID.listEnd, []), &outcome)
    case ID.subscribeStates:
      wantsStates = true
      sent = [:]
      outcome.bytes += changes(box)
    case ID.buttonCommand: command(fields, device: 2, kind: 3, .press, box, &outcome)
    case ID.switchCommand: command(fields, device: 3, kind: 6, .flag(fields.number(2) != 0), box, &outcome)
    case ID.textCommand: command(fields, device: 3, kind: 7, .text(fields.text(2)), box, &outcome)
    case ID.numberCommand: command(fields, device: 3, kind: 4, .number(fields.float(2)), box, &outcome)
    case ID.selectCommand: command(fields, device: 3, kind: 5, .text(fields.text(2)), box, &outcome)
    // Unknown messages are for newer servers.
    default: takePortMessage(message.id, fields, &table, &outcome)
    }
  }

  private mutating func command(
    _ fields: ProtobufFields, device: Int, kind: UInt8, _ value: NativeCommand.Value, _ box: NativeBox,
    _ outcome: inout Outcome
  ) {
    let id = NativeEntity.ID(device: fields.number(device), key: fields.fixed(1), kind: kind)
    guard let entity = box.entities.first(where: { $0.id == id }) else { return }
    switch (entity.kind, value) {
    case (.number(let minimum, let maximum, _, _), .number(let number)):
      guard number.isFinite, number >= minimum, number <= maximum else { return tell(entity, box, &outcome) }
    case (.select(let words), .text(let word)):
      guard words.contains(word) else { return tell(entity, box, &outcome) }
    case (.textInput(let limit), .text(let text)):
      guard text.count <= limit else { return tell(entity, box, &outcome) }
    default: break
    }
    outcome.commands.append(NativeCommand(entity: id, value: value))
  }

  /// A command has no answer: the state that there is tells that it was refused.
  private mutating func tell(_ entity: NativeEntity, _ box: NativeBox, _ outcome: inout Outcome) {
    guard let state = NativeMessage.state(entity, box.states[entity.id]) else { return }
    send(state, &outcome)
  }

  // MARK: - Changes

  /// The states that have changed since they were sent.
  mutating func changes(_ box: NativeBox) -> [UInt8] {
    guard wantsStates, !isLeaving else { return [] }
    var outcome = Outcome()
    for entity in box.entities {
      let state = box.states[entity.id]
      if let known = sent[entity.id], known == state { continue }
      sent[entity.id] = .some(state)
      if let made = NativeMessage.state(entity, state) { send(made, &outcome) }
    }
    return outcome.bytes
  }

  /// The state of an entity will be sent again, also if it is the same: a command that was to change it was refused.
  mutating func forget(_ entity: NativeEntity.ID) { sent[entity] = nil }

  /// Whether the client knows other devices, entities or serial ports than there are. It learns of them by coming again.
  func isOutdated(_ box: NativeBox, _ table: NativePortTable) -> Bool {
    listed.map { $0.devices != box.devices || $0.entities != box.entities } ?? false
      || listedPorts.map { $0 != table.ports.map(\.facts) } ?? false
  }

  /// Asks the client to leave.
  mutating func leave() -> [UInt8] {
    guard line.isOpen, !isLeaving else { return [] }
    isLeaving = true
    return line.frame(NativeMessage.ID.leave, [])
  }

  mutating func ping() -> [UInt8] { line.frame(NativeMessage.ID.ping, []) }
}
