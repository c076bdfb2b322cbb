// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc

/// A broker that keeps messages, and gives them only to subscriptions without wildcards, as RabbitMQ does. It passes nothing else on.
final class WildcardlessBroker: Sendable {
  /// What it keeps, by topics.
  let kept: Watched<[String: [UInt8]]>
  private let listener: HostileBroker

  init() throws {
    let kept = Watched<[String: [UInt8]]>([:])
    self.kept = kept
    listener = try HostileBroker { broker, client in
      guard broker.send(HostileBroker.accepts, to: client) else { return }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        while let packet = Packet(&bytes) {
          for answer in Self.answers(to: packet, kept) {
            guard broker.send(answer, to: client) else { return }
          }
        }
        let count = read(client, &buffer, buffer.count)
        guard count > 0 else { return }
        bytes += buffer.prefix(count)
      }
    }
  }

  /// The address, as commands take it.
  var address: String { listener.address }

  /// A packet of a client: its first byte, and what follows its length.
  private struct Packet {
    let type: UInt8
    let body: [UInt8]

    /// Takes a packet off the front; nil when there is no whole one.
    init?(_ bytes: inout [UInt8]) {
      var (length, factor, index) = (0, 1, 1)
      while index < bytes.count, index < 5 {
        length += Int(bytes[index] & 0x7F) * factor
        factor *= 128
        index += 1
        guard bytes[index - 1] & 0x80 == 0 else { continue }
        guard bytes.count >= index + length else { return nil }
        (type, body) = (bytes[0], Array(bytes[index..<(index + length)]))
        bytes.removeFirst(index + length)
        return
      }
      return nil
    }

    /// The text at this place, and where it ends.
    func text(at start: Int) -> (String, end: Int) {
      let end = start + 2 + Int(body[start]) << 8 + Int(body[start + 1])
      return (String(decoding: body[(start + 2)..<end], as: UTF8.self), end)
    }
  }

  private static func answers(to packet: Packet, _ kept: Watched<[String: [UInt8]]>) -> [[UInt8]] {
    switch packet.type >> 4 {
    case 3:
      let (topic, end) = packet.text(at: 0)
      let isAnswered = packet.type & 0x06 != 0
      let payload = Array(packet.body[(end + (isAnswered ? 2 : 0))...])
      if packet.type & 1 != 0 { kept.update { $0[topic] = payload.isEmpty ? nil : payload } }
      return isAnswered ? [[0x40, 2] + packet.body[end..<(end + 2)]] : []
    case 8:
      var answers = [[0x90, 3] + packet.body[..<2] + [0]]
      let (filter, _) = packet.text(at: 2)
      if let payload = kept.value[filter] {
        let topic = Array(filter.utf8)
        let body = [UInt8(topic.count >> 8), UInt8(topic.count & 0xFF)] + topic + payload
        answers.append([0x31, UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7)] + body)
      }
      return answers
    case 10: return [[0xB0, 2] + packet.body[..<2]]
    case 12: return [[0xD0, 0]]
    default: return []
    }
  }
}
