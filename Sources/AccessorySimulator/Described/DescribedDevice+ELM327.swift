// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// An ELM327's answers: the description's values, in lines with the adapter's settings.
extension DescribedDevice {
  /// The answers to the lines that these bytes end.
  mutating func answerLines(in bytes: [UInt8]) -> [SerialEffect<Self>] {
    var effects: [SerialEffect<Self>] = []
    for byte in bytes {
      guard let line = adapter?.line(adding: byte) else { continue }
      effects += hear(line + [0x0D]) { $0.answer(line: line) }
    }
    return effects
  }

  private mutating func answer(line: [UInt8]) -> [SerialEffect<Self>] {
    guard var adapter else { return [] }
    let command = adapter.command(line)
    let isRestart = command == "ATZ" || command == "ATWS"
    let match = request(isRestart ? "ATZ" : command)
    let asked = match?.index
    let name = asked.map { description.requests[$0].name } ?? command
    if let asked, quirks.unanswered.contains(asked) { return [.report(.asked(name))] }
    let echo: [SerialEffect<Self>] = adapter.isEchoing ? [.send(adapter.echo(line))] : []
    let lines: [String]
    if let asked, refuses(asked) {
      lines = refusalMessage(of: asked).map { [text($0)] } ?? []
    } else if ELM327Adapter.isForTheCar(command) {
      lines = carLines(command, match, &adapter)
    } else if let answer = adapter.carryOut(command), asked == nil {
      lines = [answer]
    } else if let match, let asked {
      carryOut(description.requests[asked], match.arguments)
      lines = (isRestart ? ["", ""] : []) + (description.requests[asked].reply.map { [text($0)] } ?? [])
    } else {
      lines = ["?"]
    }
    self.adapter = adapter
    let isKnown = lines != ["?"] || asked != nil
    return [.report(isKnown ? .asked(name) : .unknownRequest)] + echo + [.send(adapter.answer(lines))]
  }

  /// The lines that the car's answer consists of.
  private mutating func carLines(
    _ command: String, _ match: (index: Int, arguments: [String: Int])?, _ adapter: inout ELM327Adapter
  ) -> [String] {
    guard let search = adapter.connect() else { return ["UNABLE TO CONNECT"] }
    if let match { carryOut(description.requests[match.index], match.arguments) }
    if let reply = match.flatMap({ description.requests[$0.index].reply }) {
      let text = text(reply)
      guard let bytes = Hexadecimal.bytes(text.filter { $0 != " " }), !bytes.isEmpty else { return search + [text] }
      return search + [adapter.carLine(bytes)]
    }
    if let bytes = Hexadecimal.bytes(command), bytes.count == 2, bytes[0] == 1,
      let answer = ELM327Adapter.knownValues(knownValues, from: bytes[1])
    {
      return search + [adapter.carLine(answer)]
    }
    return search + ["NO DATA"]
  }

  /// The numbers of the values that the description can ask a car for.
  private var knownValues: Set<UInt8> {
    Set(
      description.requests.compactMap { request in
        guard case .bytes(let parts) = request.sends, case .bytes(let sent)? = parts.first,
          let bytes = Hexadecimal.bytes(String(decoding: sent.dropLast(), as: UTF8.self)), bytes.count == 2,
          bytes[0] == 1
        else { return nil }
        return bytes[1]
      })
  }

  private func request(_ command: String) -> (index: Int, arguments: [String: Int])? {
    let sent = Array((command + "\r").utf8)
    for (index, request) in description.requests.enumerated() {
      guard case .bytes(let parts) = request.sends,
        let arguments = RequestMatch.arguments(parts, request, sent, address: nil)
      else { continue }
      return (index, arguments)
    }
    return nil
  }

  /// A message with the device's values.
  private func text(_ message: Int) -> String {
    let values = said(description.messages[message], values)
    return String(decoding: encoder.body(message, values) + (quirks.surplus[message] ?? []), as: UTF8.self)
  }
}
