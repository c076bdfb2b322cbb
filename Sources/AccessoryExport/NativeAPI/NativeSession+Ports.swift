// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ESPHomeAPI

// What a client asks of serial ports. What needs no line is answered here; the rest becomes a call on the port.

extension NativeSession {
  /// Takes a message about serial ports; ignores others.
  mutating func takePortMessage(
    _ id: Int, _ fields: ProtobufFields, _ table: inout NativePortTable, _ outcome: inout Outcome
  ) {
    typealias ID = NativeMessageID
    let index = Int(fields.number(1))
    switch id {
    case ID.serialSubscribeIdentity:
      wantsIdentities = true
      for (index, port) in table.ports.enumerated() { send(NativeMessage.identity(port, of: index), &outcome) }
    case ID.serialRequest: takeRequest(Int(fields.number(2)), index, &table, &outcome)
    case ID.serialConfigure:
      guard isOwner(of: index, .configure, table, &outcome) else { return }
      guard let settings = Self.settings(fields) else { return answer(.configure, index, .invalid, &outcome) }
      call(index, .configure(settings), &outcome)
    case ID.serialSetPins:
      guard isOwner(of: index, .setLines, table, &outcome) else { return }
      let bits = fields.number(2)
      let possible = table.ports[index].hasModemLines ? UInt32(ModemLines.outputs.nativeBits) : 0
      guard bits & ~possible == 0 else { return answer(.setLines, index, .notSupported, &outcome) }
      call(index, .setLines(ModemLines(native: bits)), &outcome)
    case ID.serialGetPins:
      if table.ports.indices.contains(index) { return call(index, .getLines, &outcome) }
      // Clients of older versions wait for the port that they asked for.
      if knowsAnswers { send(NativeMessage.lines([], of: index, .invalid), &outcome) }
    case ID.serialSetMode:
      guard isOwner(of: index, .setMode, table, &outcome) else { return }
      switch fields.number(2) {
      case 0: answer(.setMode, index, .ok, &outcome)
      case 1: answer(.setMode, index, .notSupported, &outcome)
      default: answer(.setMode, index, .invalid, &outcome)
      }
    case ID.serialWrite:
      // A write has no answer.
      let bytes = fields.bytes(2)
      if !bytes.isEmpty, table.owner(of: index) == connection { call(index, .write(Array(bytes)), &outcome) }
    default: break
    }
  }

  private mutating func takeRequest(
    _ number: Int, _ index: Int, _ table: inout NativePortTable, _ outcome: inout Outcome
  ) {
    guard table.ports.indices.contains(index) else {
      return send(NativeMessage.answer(number, of: index, .invalid), &outcome)
    }
    guard let topic = NativePortTopic(rawValue: number) else {
      return send(NativeMessage.answer(number, of: index, .notSupported), &outcome)
    }
    switch topic {
    case .subscribe:
      let port = table.ports[index]
      guard table.owner(of: index) ?? connection == connection else {
        return answer(topic, index, .inUse, because: "another client has \(port.name)", &outcome)
      }
      if let absence = port.absence { return answer(topic, index, .error, because: absence, &outcome) }
      _ = table.claim(index, for: connection)
      call(index, .subscribe, &outcome)
    case .unsubscribe:
      guard table.owner(of: index) == connection else { return answer(topic, index, .ok, &outcome) }
      table.free(index)
      call(index, .unsubscribe, &outcome)
    case .flush:
      if isOwner(of: index, topic, table, &outcome) { call(index, .flush, &outcome) }
    case .configure, .setLines, .setMode: answer(topic, index, .invalid, &outcome)
    }
  }

  /// Whether the client has the port. If not, it is told.
  private mutating func isOwner(
    of index: Int, _ topic: NativePortTopic, _ table: NativePortTable, _ outcome: inout Outcome
  ) -> Bool {
    guard table.ports.indices.contains(index) else {
      answer(topic, index, .invalid, &outcome)
      return false
    }
    guard table.owner(of: index) == connection else {
      answer(topic, index, .inUse, because: "subscribe to \(table.ports[index].name) first", &outcome)
      return false
    }
    return true
  }

  /// The settings in a message; nil if no line has such.
  private static func settings(_ fields: ProtobufFields) -> LineChanges? {
    let parities: [UInt32: LineParity] = [0: .none, 1: .even, 2: .odd]
    guard let parity = parities[fields.number(4)] else { return nil }
    let changes = LineChanges(
      baudRate: fields.number(2), dataBits: Int(fields.number(6)), parity: parity, stopBits: Int(fields.number(5)),
      flowControl: fields.flag(3) ? .hardware : LineFlowControl.none)
    do throws(AccessoryError) { try changes.check("") } catch { return nil }
    return changes
  }

  private func call(_ index: Int, _ wish: NativePortCall.Wish, _ outcome: inout Outcome) {
    outcome.calls.append(NativePortCall(port: index, wish: wish))
  }

  private mutating func answer(
    _ topic: NativePortTopic, _ index: Int, _ status: NativePortStatus, because text: String = "",
    _ outcome: inout Outcome
  ) { send(NativeMessage.answer(topic, of: index, status, text), &outcome) }

  // MARK: - What ports answer

  /// The identity of a port, if the client wants to know of it.
  mutating func identity(_ port: NativePort, of index: Int) -> [UInt8] {
    wantsIdentities && !isLeaving ? frame(NativeMessage.identity(port, of: index)) : []
  }
}
