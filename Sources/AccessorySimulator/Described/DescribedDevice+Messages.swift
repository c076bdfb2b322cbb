// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// Encodes the device's messages.
extension DescribedDevice {
  /// The messages that the device sends by itself, in their order. Of messages with the same values, which are those of other models,
  /// only the first. A device that advertises is of one kind, so it sends one message.
  var pushedMessages: [Int] {
    let pushed = description.messages.indices.filter { description.messages[$0].isPushed }
    if description.advertisement != nil {
      return (advertised ?? message(with: "battery.percent") ?? pushed.first).map { [$0] } ?? []
    }
    return pushed.filter { place in
      let names = Set(description.messages[place].fieldNames)
      return names.isEmpty
        || !pushed.contains { $0 < place && Set(description.messages[$0].fieldNames) == names }
    }
  }

  /// The first pushed message that has this value.
  func message(with name: String) -> Int? {
    description.messages.firstIndex { $0.isPushed && $0.fieldNames.contains(name) }
  }

  /// The frames of a message. `asked` is the request that it answers; nil for a pushed message.
  func frames(
    _ message: Int, for asked: (request: ProtocolDescription.Request, numbers: [Int: Int])?
  ) -> [SerialEffect<Self>] {
    let described = description.messages[message]
    var elements = elements[message] ?? [:]
    if let unit, let units = description.units, let element = description.unitElement(of: described.framing) {
      elements[element] = unit &+ units.receivedOffset
    }
    if let asked { for echo in asked.request.echoes { elements[echo.reply] = asked.numbers[echo.request] } }
    for condition in described.conditions where condition.isNegated {
      // A negated condition (`unless`) identifies a refusal, so its element gets a number that a good reply doesn't have.
      if let number = elements[condition.element], !condition.values.contains(number) { continue }
      elements[condition.element] =
        described.refusalWords.keys.min() ?? (0...255).first { !condition.values.contains($0) }
    }
    var effects: [SerialEffect<Self>] = []
    for values in pieces(described) {
      do throws(FrameEncodingError) {
        effects.append(
          .send(
            try encoder.frame(
              message, said(described, values), elements: elements, surplus: quirks.surplus[message] ?? [])))
      } catch {
        return [.report(.unsendable(described.name))]
      }
    }
    return effects
  }

  /// The values in each frame of a message.
  private func pieces(_ message: ProtocolDescription.Message) -> [[String: PlainValue]] {
    guard let pieces = message.pieces else { return [values] }
    var things = pieces.count.flatMap { values[$0]?.asNumber }.flatMap { Int(exactly: $0) } ?? 0
    for name in message.fieldNames {
      if case .list(let list)? = values[name], pieces.count == nil || things == 0 { things = max(things, list.count) }
    }
    let each = max(1, pieces.each)
    return (0..<max(1, min(255, (things + each - 1) / each))).map { number in
      var part = values
      part[pieces.index] = .whole(pieces.first + number)
      for name in message.fieldNames {
        if case .list(let list)? = values[name] {
          part[name] = .list(Array(list.dropFirst(number * each).prefix(each)))
        }
      }
      return part
    }
  }

  /// The frames that refuse a request.
  func refusal(
    of index: Int, _ numbers: [Int: Int]
  ) -> [SerialEffect<Self>] {
    let request = description.requests[index]
    guard let refusal = refusalMessage(of: index) else { return [] }
    let isLikeReply =
      quirks.refused[index] ?? nil != nil
      || request.reply.map { description.messages[$0].framing } == description.messages[refusal].framing
    return frames(refusal, for: isLikeReply ? (request, numbers) : nil)
  }

  /// The message that refuses a request. Of several, the one with the framing of the reply is chosen, unless a quirk
  /// names another one.
  func refusalMessage(of index: Int) -> Int? {
    if let chosen = quirks.refused[index] ?? nil { return chosen }
    let request = description.requests[index]
    let refusals =
      request.refusals.isEmpty
      ? description.messages.indices.filter { description.messages[$0].isRefusal } : request.refusals
    let framing = request.reply.map { description.messages[$0].framing }
    return refusals.first { description.messages[$0].framing == framing } ?? refusals.first
  }
}
