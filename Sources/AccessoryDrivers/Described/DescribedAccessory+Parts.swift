// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

// Modbus accessories refuse a request if they lack one of its registers. Such a request is made in smaller parts, so that
// the other registers are read. Which parts the accessory answers is remembered until it is closed.
extension DescribedAccessory {
  /// The reply to a request; where it had to be made in parts, that to all parts together.
  func reply(
    to index: Int, _ arguments: [String: Int], tries: Int?
  ) async throws(AccessoryError) -> DecodedMessage? {
    let known = parts.withLock { $0[index] }
    if let known, !known.isEmpty { return try await reply(to: index, in: known) }
    let refusal: AccessoryError
    do throws(AccessoryError) {
      return try await send(index, arguments, tries: tries)
    } catch {
      refusal = error
    }
    // An empty list: all parts were refused, too.
    guard known == nil, refusal.isLackOfRegisters, let halves = block(of: index)?.halves else { throw refusal }
    let found = try await found(index, halves)
    parts.withLock { $0[index] = found.parts }
    guard let reply = found.reply else { throw refusal }
    return reply
  }

  private func block(of index: Int) -> ProtocolDescription.RegisterBlock? {
    guard let reply = description.requests[index].reply, case .registers(let block) = description.messages[reply].body
    else { return nil }
    return block
  }

  private func reply(
    to index: Int, in parts: [ProtocolDescription.RegisterBlock]
  ) async throws(AccessoryError) -> DecodedMessage? {
    var joined: DecodedMessage?
    for part in parts { Self.join(try await send(index, [:], part: part), to: &joined) }
    return joined
  }

  /// Requests two blocks, then the halves of a refused block, and so on. Returns the answered parts, and their replies
  /// together.
  private func found(
    _ index: Int, _ halves: (ProtocolDescription.RegisterBlock, ProtocolDescription.RegisterBlock)
  ) async throws(AccessoryError) -> (parts: [ProtocolDescription.RegisterBlock], reply: DecodedMessage?) {
    var parts: [ProtocolDescription.RegisterBlock] = []
    var joined: DecodedMessage?
    // A block has at most 255 values, so this ends.
    var rest = [halves.1, halves.0]
    while let block = rest.popLast() {
      do throws(AccessoryError) {
        Self.join(try await send(index, [:], part: block), to: &joined)
        parts.append(block)
      } catch {
        guard error.isLackOfRegisters else { throw error }
        if let halves = block.halves { rest += [halves.1, halves.0] }
      }
    }
    return (parts, joined)
  }

  private static func join(_ reply: DecodedMessage?, to joined: inout DecodedMessage?) {
    guard let reply else { return }
    if joined == nil { joined = reply } else { joined?.join(reply) }
  }
}

extension AccessoryError {
  /// Whether a Modbus accessory refused a request because of its registers: their addresses (2) or their count (3).
  fileprivate var isLackOfRegisters: Bool { kind == .refused && (code == .refusal(2) || code == .refusal(3)) }
}
