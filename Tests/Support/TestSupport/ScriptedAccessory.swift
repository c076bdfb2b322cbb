// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import FamilyAF1

/// An AF1 accessory whose every answer the test decides, and which remembers every frame that it got.
public final class ScriptedAccessory: Sendable {
  /// A request as it arrived.
  public struct Request: Sendable, Hashable {
    /// What it asks.
    public var command: AF1Command
    /// Its number.
    public var number: UInt16
    /// Its payload.
    public var payload: [UInt8]
  }

  /// What the accessory does with a request.
  public enum Answer: Sendable {
    /// A reply with this payload.
    case reply([UInt8])
    /// A refusal with this reason byte.
    case refusal(UInt8)
    /// These very bytes, whatever they are.
    case bytes([UInt8])
    /// Nothing.
    case silence
  }

  /// All that arrived.
  public let requests = Watched<[Request]>([])
  private let codec = Watched(AF1Codec(maximumPayload: 65_535))
  private let answer: @Sendable (Request) -> Answer

  /// An accessory that answers HELLO as it should, and all else as `answer` says.
  public init(answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

  /// The payload of a good answer to HELLO.
  public static let helloReply: [UInt8] = [1, 0xEE, 0xFF, 0xC0, 0, 0x10, 1, 0]

  /// Takes bytes that the host sent; returns those that it gets.
  public func take(_ bytes: [UInt8]) -> [UInt8] {
    let arrived = codec.update { codec in
      var batch = FrameBatch<AF1Header>()
      codec.decode(bytes.span.bytes, into: &batch)
      return (0..<batch.count).map { index in
        let header = batch.header(at: index)
        return Request(command: header.command, number: header.number, payload: batch.payloadBytes(at: index))
      }
    }
    return arrived.flatMap { request in
      requests.update { $0.append(request) }
      let header = AF1Header.request(request.command, number: request.number)
      switch request.command == .hello ? greeting(request) : answer(request) {
      case .reply(let payload): return Self.frame(.reply(to: header), payload)
      case .refusal(let reason): return Self.frame(.refusal(of: header), [reason])
      case .bytes(let bytes): return bytes
      case .silence: return []
      }
    }
  }

  private func greeting(_ request: Request) -> Answer {
    if case .silence = answer(request) { return .reply(Self.helloReply) }
    return answer(request)
  }

  /// A frame's bytes.
  public static func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload.span.bytes, into: &frame)
    return frame
  }

  /// An event's bytes.
  public static func event(_ command: AF1Command, number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    frame(.event(command, number: number), payload)
  }
}

extension ScriptedAccessory {
  /// Puts the accessory behind a transport in memory.
  public func inMemory(label: String = "memory") -> MemoryTransport {
    MemoryTransport(label: label) { transport, bytes in
      let answer = self.take(bytes)
      if !answer.isEmpty { transport.receive(answer) }
    }
  }

  /// Puts the accessory at the other end of a pseudo-terminal, whose path others can open.
  public func onPseudoTerminal() async throws -> PseudoTerminal {
    let terminal = try await PseudoTerminal.open()
    let transport = terminal.transport
    // An answer for which there is no room waits, and no more requests are read meanwhile.
    let waiting = Locked<[UInt8]>([])
    let work: @Sendable () -> Void = { [weak transport] in
      guard let transport else { return }
      waiting.withLock { waiting in
        var bytes: [UInt8] = []
        while true {
          if !waiting.isEmpty {
            guard transport.output.offer(waiting) != .full else { return }
            waiting = []
          }
          guard case .bytes = transport.input.take(into: &bytes) else { return }
          waiting = self.take(bytes)
        }
      }
    }
    transport.output.onSpace(work)
    transport.input.onReadable(work)
    return terminal
  }
}
