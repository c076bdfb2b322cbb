// SPDX-License-Identifier: Apache-2.0

import AccessoryDescriptions
import AccessoryProtocols

// Answers requests for any range of the described registers, not only for those of the description's own requests.
extension DescribedDevice {
  /// The reply to a Modbus frame for this unit.
  mutating func answerModbus(_ header: DescribedHeader, _ content: [UInt8]) -> [SerialEffect<Self>] {
    guard content.count == 8 else { return [] }
    let function = Int(content[1])
    let (start, count) = (Int(content[2]) << 8 | Int(content[3]), Int(content[4]) << 8 | Int(content[5]))
    let asked = description.requests.firstIndex { request in
      guard case .frame(_, let elements, _) = request.sends else { return false }
      return elements.allSatisfy { decoder.number($0.key, header, content.span.bytes) == $0.value }
    }
    let news = SerialEffect<Self>.report(asked.map { .asked(description.requests[$0].name) } ?? .unknownRequest)
    if let asked, quirks.unanswered.contains(asked) { return [news] }
    if let asked, refuses(asked) { return [news] + send(ModbusAnswer(content, exception: 2), header.number) }
    switch registers(function, start, count) {
    case .success(let data): return [news] + send(ModbusAnswer(content, data: data), header.number)
    case .failure(let exception): return [news] + send(ModbusAnswer(content, exception: exception.code), header.number)
    }
  }

  private func send(_ answer: ModbusAnswer, _ number: UInt16?) -> [SerialEffect<Self>] {
    [.send(codec.wired(answer.frame, number: number))]
  }

  /// A Modbus exception: why registers can't be read.
  private struct Exception: Error {
    var code: UInt8
  }

  /// The contents of `count` registers from `start` on, encoded from the device's values.
  private func registers(_ function: Int, _ start: Int, _ count: Int) -> Result<[UInt8], Exception> {
    let blocks = description.messages.indices.compactMap { message in
      if case .registers(let block) = description.messages[message].body, block.function == function {
        return (message: message, block: block)
      }
      return nil
    }
    guard !blocks.isEmpty else { return .failure(Exception(code: 1)) }
    let isBits = Modbus.isBits(function)
    guard (1...(isBits ? Modbus.bitsPerRequest : Modbus.registersPerRequest)).contains(count) else {
      return .failure(Exception(code: 3))
    }
    var data = [UInt8](repeating: 0, count: Modbus.byteCount(of: count, function: function))
    var known = [Bool](repeating: false, count: count)
    for (message, block) in blocks {
      let range = max(start, block.start)..<max(start, block.start, min(start + count, block.start + block.count))
      guard !range.isEmpty else { continue }
      let body = encoder.body(message, values)
      for address in range {
        let (from, to) = (address - block.start, address - start)
        known[to] = true
        if isBits {
          if body[from / 8] >> UInt8(from % 8) & 1 == 1 { data[to / 8] |= 1 << UInt8(to % 8) }
        } else {
          (data[2 * to], data[2 * to + 1]) = (body[2 * from], body[2 * from + 1])
        }
      }
    }
    return known.allSatisfy { $0 } ? .success(data) : .failure(Exception(code: 2))
  }
}
