// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

extension DescribedDevice {
  // MARK: - Requests

  /// Answers a request, unless a quirk makes the device lose it. `sent` are the request's bytes.
  mutating func hear(
    _ sent: [UInt8], _ answer: (inout Self) -> [SerialEffect<Self>]
  ) -> [SerialEffect<Self>] {
    state.requests &+= 1
    var effects: [SerialEffect<Self>] = []
    if state.isDeaf {
      effects.append(.report(.lost))
    } else if state.lost > 0 {
      state.lost -= 1
      effects += [.report(.lost)] + (quirks.isEchoingAsleep ? [.send(sent)] : [])
    } else {
      effects += answer(&self)
    }
    if let time = quirks.sleepsAfter, quirks.lostAsleep > 0 { effects.append(.after(time, .sleep(state.requests))) }
    if quirks.quietTime > .zero {
      state.isQuiet = true
      effects.append(.after(quirks.quietTime, .speak(state.requests)))
    }
    return effects
  }

  /// Whether a quirk makes the device refuse this request.
  mutating func refuses(_ request: Int) -> Bool {
    guard state.refused == 0 else {
      state.refused -= 1
      return true
    }
    return quirks.refused.keys.contains(request)
  }

  // MARK: - Messages

  /// Applies quirks to messages: adds other bytes before a message or in its middle, and sends it in pieces. Echoes of
  /// the line aren't changed, because they don't come from the accessory.
  mutating func spoil(_ effects: [SerialEffect<Self>]) -> [SerialEffect<Self>] {
    var spoiled: [SerialEffect<Self>] = []
    for effect in effects {
      guard case .send(var bytes) = effect else {
        spoiled.append(effect)
        continue
      }
      guard !bytes.isEmpty else { continue }
      let pushed = quirks.pushes.flatMap { bytesOf($0) }
      let place = quirks.pushesAmid ? bytes.count / 2 : 0
      bytes = bytes[..<place] + pushed + bytes[place...]
      if quirks.cutsFirst, state.isFirst { bytes.removeFirst(bytes.count / 2) }
      state.isFirst = false
      spoiled += pieces(of: bytes)
      guard quirks.deafTime > .zero else { continue }
      state.messages &+= 1
      state.isDeaf = true
      spoiled.append(.after(quirks.deafTime, .listen(state.messages)))
    }
    return spoiled
  }

  private func bytesOf(_ push: DescribedQuirks.Push) -> [UInt8] {
    switch push {
    case .bytes(let bytes): bytes
    case .message(let message):
      frames(message, for: nil).flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
    }
  }

  private mutating func pieces(of bytes: [UInt8]) -> [SerialEffect<Self>] {
    let count = min(quirks.pieces, bytes.count)
    guard count > 1 || state.isHolding else { return [.send(bytes)] }
    let pieces = (0..<max(1, count)).map { piece in
      Array(bytes[(piece * bytes.count / max(1, count))..<((piece + 1) * bytes.count / max(1, count))])
    }
    // Drops further messages while 4096 pieces wait, because the host isn't reading.
    guard state.pieces.count < 4_096 else { return [] }
    state.pieces += pieces
    guard !state.isHolding else { return [] }
    state.isHolding = true
    return nextPiece()
  }

  private mutating func nextPiece() -> [SerialEffect<Self>] {
    guard !state.pieces.isEmpty else {
      state.isHolding = false
      return []
    }
    return [.send(state.pieces.removeFirst()), .after(quirks.pieceGap, .piece)]
  }

  // MARK: - Time

  /// Handles the end of a quirk's time.
  mutating func perform(quirk action: ScheduledAction) -> [SerialEffect<Self>] {
    switch action {
    case .piece: return nextPiece()
    case .sleep(let request): if state.requests == request { state.lost = quirks.lostAsleep }
    case .listen(let message): if state.messages == message { state.isDeaf = false }
    case .speak(let request): if state.requests == request { state.isQuiet = false }
    case .push, .round, .drain: break
    }
    return []
  }

  // MARK: - Values

  /// The values in a message. Devices that simulate older firmware leave out optional fields.
  func said(_ message: ProtocolDescription.Message, _ values: [String: PlainValue]) -> [String: PlainValue] {
    guard quirks.isOld else { return values }
    return values.filter { !message.optionalNames.contains($0.key) }
  }
}

extension ProtocolDescription.Message {
  /// The names of fields that some accessories leave out.
  var optionalNames: Set<String> {
    switch body {
    case .fields(let steps): Self.optionalNames(steps, isOptional: false)
    case .columns(let columns): Set(columns.columns.filter(\.isOptional).map(\.field.name))
    case .table(let table): Set(table.columns.filter(\.isOptional).map(\.field.name))
    case .nothing, .tags, .pairs, .pattern, .registers: []
    }
  }

  private static func optionalNames(_ steps: [ProtocolDescription.Step], isOptional: Bool) -> Set<String> {
    var names: Set<String> = []
    for step in steps {
      switch step {
      case .field(let field): if isOptional { names.insert(field.name) }
      case .tail(let steps): names.formUnion(optionalNames(steps, isOptional: true))
      case .group(let steps, _), .when(_, let steps):
        names.formUnion(optionalNames(steps, isOptional: isOptional))
      case .skip: break
      }
    }
    return names
  }
}
