// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyEV3

/// A client that asks by whole frames, one request after another, and looks whether each reply is its own.
struct AskingClient: Sendable {
  /// What is at the other end.
  enum Kind: String, CaseIterable, Sendable {
    case af1, ev3, jbd

    /// The arguments with which `simulate` pretends it.
    var simulation: (kind: String, arguments: [String]) {
      switch self {
      case .af1: ("framed", [])
      case .ev3: ("ev3", [])
      case .jbd: ("--profile", ["jbd"])
      }
    }

    var driver: String { self == .af1 ? "framed" : rawValue }
  }

  /// Request and reply.
  private struct Exchange {
    var request: [UInt8]
    /// How many bytes the reply has, by its beginning; nil while that can't be told.
    var byteCount: ([UInt8]) -> Int?
    var isReply: ([UInt8]) -> Bool
  }

  let kind: Kind
  /// Of several at once; so their requests differ.
  let number: Int

  /// Makes so many requests. Returns how many replies were not its own. Throws where the connection ends.
  func ask(_ count: Int, over transport: any Transport, since start: Int = 0) async throws -> Int {
    let session = AccessorySession(transport)
    var pieces = session.input.makeAsyncIterator()
    var bytes: [UInt8] = []
    var wrong = 0
    for index in start..<(start + count) {
      let exchange = try exchange(index)
      try await session.write(exchange.request)
      var wanted = exchange.byteCount(bytes)
      while wanted.map({ bytes.count < $0 }) ?? true {
        guard let piece = try await pieces.next() else { throw AccessoryError.closed("the bridge") }
        bytes += piece
        wanted = exchange.byteCount(bytes)
      }
      let reply = Array(bytes.prefix(wanted ?? 0))
      bytes.removeFirst(reply.count)
      if !exchange.isReply(reply) { wrong += 1 }
    }
    await session.close()
    return wrong + (bytes.isEmpty ? 0 : 1)
  }

  /// The frame of one request.
  func request(_ index: Int) throws -> [UInt8] { try exchange(index).request }

  /// Whether this is the reply to it.
  func isReply(_ bytes: [UInt8], to index: Int) throws -> Bool { try exchange(index).isReply(bytes) }

  private func exchange(_ index: Int) throws -> Exchange {
    switch kind {
    case .af1: try af1(index)
    case .ev3: try ev3(index)
    case .jbd: jbd(index)
    }
  }

  /// HELLO first, then an echo of what no other client sends. All clients count alike.
  private func af1(_ index: Int) throws -> Exchange {
    let codec = AF1Codec(maximumPayload: 4_096)
    let number = UInt16(truncatingIfNeeded: index)
    if index == 0 {
      var payload: [UInt8] = []
      AF1HelloRequest(nonce: UInt32(self.number)).encode(into: &payload)
      var request: [UInt8] = []
      try codec.encode(.request(.hello, number: number), payload: payload, into: &request)
      return Exchange(
        request: request, byteCount: { _ in 22 }, isReply: { $0.count == 22 && $0[2] == 0x12 && $0[3] == 0 })
    }
    let payload = Array("client \(self.number), request \(index)".utf8)
    let header = AF1Header.request(.echo, number: number)
    var (request, reply): ([UInt8], [UInt8]) = ([], [])
    try codec.encode(header, payload: payload, into: &request)
    try codec.encode(.reply(to: header), payload: payload, into: &reply)
    let expected = reply
    return Exchange(request: request, byteCount: { _ in expected.count }, isReply: { $0 == expected })
  }

  /// Code that does nothing, with as many bytes of results as no other client asks for.
  private func ev3(_ index: Int) throws -> Exchange {
    let count = 1 + number * 7 + index % 7
    let counter = UInt16(truncatingIfNeeded: index)
    let request = try EV3Message(number: counter, type: .directCommand, body: [UInt8(count), 0, 0x01]).encoded()
    let reply = try EV3Message(
      number: counter, type: .directReply, body: [UInt8](repeating: 0, count: count)
    ).encoded()
    return Exchange(
      request: request,
      byteCount: { $0.count < 2 ? nil : 2 + Int($0[0]) + Int($0[1]) << 8 }, isReply: { $0 == reply })
  }

  /// One register or another: its number is in the reply.
  private func jbd(_ index: Int) -> Exchange {
    let register: UInt8 = (number &* 7 &+ index &* 5) % 3 == 0 ? 3 : 4
    let request: [UInt8] = [0xDD, 0xA5, register, 0, 0xFF, 0 &- register, 0x77]
    return Exchange(
      request: request, byteCount: { $0.count < 4 ? nil : 7 + Int($0[3]) },
      isReply: { $0.count > 7 && $0[1] == register && $0[2] == 0 && $0.last == 0x77 })
  }
}
