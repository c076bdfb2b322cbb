// SPDX-License-Identifier: Apache-2.0

/// Messages of ESPHome's native API on a connection, as a value: it finds messages in the other side's bytes, and makes frames of this
/// side's. With a key all is encrypted; without one nothing is. No clock, no I/O.
package struct NativeLine: Sendable {
  /// A message: its number and its fields.
  package struct Message: Sendable, Hashable {
    package var id: Int
    package var payload: ArraySlice<UInt8>
  }

  /// What came of the other side's bytes.
  package enum Outcome: Sendable, Hashable {
    case message(Message)
    /// More bytes are needed.
    case nothing
    /// The connection ends. The reason is for the log.
    case end(String)
  }

  /// Why a client's connection ended, where its user can do something.
  package enum Problem: Sendable, Hashable {
    /// The server encrypts, and this side has no key.
    case needsKey
    /// The server doesn't encrypt, and this side would.
    case needsNoKey
    /// The server has another key.
    case otherKey
    /// The server doesn't speak the native API.
    case isSomethingElse
    /// The server has refused the connection, in its words.
    case refused(String)
  }

  private enum Side: Sendable {
    /// With the names that an encrypted server tells before it knows the client.
    case server(name: String, mac: String)
    case client
  }

  private enum State: Sendable {
    case hello
    /// A client's handshake before the server's hello.
    case begun(NoiseHandshake)
    case handshake(NoiseHandshake)
    case open(receiving: NoiseCipher, sending: NoiseCipher)
    case plain
    case ended
  }

  private let psk: [UInt8]?
  private let side: Side
  private let makeSecret: @Sendable () -> [UInt8]
  private var state = State.hello
  private var received: [UInt8] = []
  private var start = 0
  /// What is to be sent before anything else.
  package private(set) var output: [UInt8] = []

  /// Why a client's connection has ended; nil where its user can't do anything.
  package private(set) var problem: Problem?

  /// The longest message of a client without encryption: programs send what they write at once as one message.
  package static let plainLimit = 1 << 20
  /// The longest message of a server without encryption.
  private static let serverLimit = 65_535
  private static let handshakeLimit = 128
  /// The longest payload that a frame of the server has.
  package static let payloadLimit = 65_515

  /// A server's connection; encrypted with a `psk` of 32 bytes. `secret` makes this connection's secret key.
  package init(
    psk: [UInt8]?, name: String, mac: String,
    secret: @escaping @Sendable () -> [UInt8] = { Sodium.random(Sodium.keyLength) }
  ) {
    (self.psk, side, makeSecret) = (psk, .server(name: name, mac: mac), secret)
  }

  /// A client's connection; likewise. Its opening is in `output` at once.
  package init(
    clientWith psk: [UInt8]?, secret: @escaping @Sendable () -> [UInt8] = { Sodium.random(Sodium.keyLength) }
  ) {
    (self.psk, side, makeSecret) = (psk, .client, secret)
    guard let psk else {
      state = .plain
      return
    }
    var handshake = NoiseHandshake(psk: psk, hello: [])
    output = Self.frame([]) + Self.frame(handshake.begin(secret: secret()))
    state = .begun(handshake)
  }

  /// Whether messages may be sent.
  package var isOpen: Bool {
    switch state {
    case .open, .plain: true
    case .hello, .begun, .handshake, .ended: false
    }
  }

  package mutating func take(_ bytes: [UInt8]) {
    // What was used goes at once: a fast client's bytes don't gather.
    received.removeFirst(start)
    start = 0
    received += bytes
  }

  /// Takes what is to be sent.
  package mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// The next message.
  package mutating func next() -> Outcome {
    while true {
      switch state {
      case .ended: return .nothing
      case .hello where psk == nil, .plain: return nextPlain()
      case .hello, .begun, .handshake, .open:
        switch nextFrame() {
        case .success(nil): return .nothing
        case .success(let frame?):
          if let outcome = use(frame) { return outcome }
        case .failure(let refusal): return refuse(refusal.reason, because: refusal.log)
        }
      }
    }
  }

  private struct Wrong: Error {
    /// What the client is told; nil for nothing.
    var reason: String?
    var log: String
  }

  private var isClient: Bool { if case .client = side { true } else { false } }

  // MARK: - Without encryption

  private mutating func nextPlain() -> Outcome {
    let rest = received[start...]
    guard let first = rest.first else { return .nothing }
    guard first == 0 else {
      if isClient { return end(first == 1 ? .needsKey : .isSomethingElse) }
      // A client that wants encryption learns from this that there is none.
      output += first == 1 ? [0, 0, 0] : []
      return end(
        first == 1 ? "it wants an encrypted connection, and this one isn't" : "it doesn't speak the native API")
    }
    var place = rest.dropFirst()
    var numbers: [Int] = []
    for _ in 0..<2 {
      switch Varint.read(place, limit: 4) {
      case .number(let number, let length):
        numbers.append(Int(number))
        place = place.dropFirst(length)
      case .unfinished: return .nothing
      case .tooLong: return end("a frame's length has too many digits")
      }
    }
    let (length, id) = (numbers[0], numbers[1])
    guard length <= (isClient ? Self.serverLimit : Self.plainLimit) else {
      return end("a frame of \(length) bytes is too long")
    }
    guard place.count >= length else { return .nothing }
    if case .hello = state { state = .plain }
    start = place.startIndex + length
    return .message(Message(id: id, payload: place.prefix(length)))
  }

  // MARK: - With encryption

  private mutating func nextFrame() -> Result<[UInt8]?, Wrong> {
    let rest = received[start...]
    guard let first = rest.first else { return .success(nil) }
    guard first == 1 else {
      if isClient, !isOpen { problem = first == 0 ? .needsNoKey : .isSomethingElse }
      return .failure(
        Wrong(
          reason: first == 0 ? "Bad indicator byte" : nil,
          log: first == 0 ? "it doesn't encrypt" : "it doesn't speak the native API"))
    }
    guard rest.count >= 3 else { return .success(nil) }
    let length = Int(rest[start + 1]) << 8 | Int(rest[start + 2])
    if case .open = state {
    } else if length > Self.handshakeLimit {
      return .failure(Wrong(reason: NoiseHandshake.Refusal.wrongLength.rawValue, log: "its handshake is too long"))
    }
    guard rest.count >= 3 + length else { return .success(nil) }
    start += 3 + length
    return .success(Array(rest[(rest.startIndex + 3)..<(rest.startIndex + 3 + length)]))
  }

  /// Uses a frame; nil if it was the handshake's.
  private mutating func use(_ frame: [UInt8]) -> Outcome? {
    switch state {
    case .hello:
      tellNames()
      state = .handshake(NoiseHandshake(psk: psk ?? [], hello: frame))
      return nil
    case .begun(let handshake):
      // The protocol that the server has chosen; its names follow.
      guard frame.first == 1 else { return end(.isSomethingElse) }
      state = .handshake(handshake)
      return nil
    case .handshake(var handshake) where isClient:
      if frame.first == 1 {
        let reason = String(decoding: frame.dropFirst(), as: UTF8.self)
        return end(reason == NoiseHandshake.Refusal.wrongKey.rawValue ? .otherKey : .refused(reason))
      }
      guard let (receiving, sending) = try? handshake.finish(frame) else { return end(.otherKey) }
      state = .open(receiving: receiving, sending: sending)
      return nil
    case .handshake(var handshake):
      do throws(NoiseHandshake.Refusal) {
        let (answer, receiving, sending) = try handshake.answer(frame, secret: makeSecret())
        output += Self.frame(answer)
        state = .open(receiving: receiving, sending: sending)
        return nil
      } catch {
        return refuse(error.rawValue, because: error == .wrongKey ? "it has another key" : error.rawValue)
      }
    case .open(var receiving, let sending):
      guard let bytes = receiving.open(frame) else { return end("a frame can't be decrypted") }
      state = .open(receiving: receiving, sending: sending)
      guard bytes.count >= 4 else { return end("an encrypted message is too short") }
      return .message(Message(id: Int(bytes[0]) << 8 | Int(bytes[1]), payload: bytes[4...]))
    case .plain, .ended: return .nothing
    }
  }

  private mutating func refuse(_ reason: String?, because log: String) -> Outcome {
    if let reason, !isClient {
      // The name comes before the refusal, so that the client can tell whose key is wrong.
      if case .hello = state { tellNames() }
      output += Self.frame([1] + Array(reason.utf8))
    }
    return end(log)
  }

  /// A server's hello.
  private mutating func tellNames() {
    guard case .server(let name, let mac) = side else { return }
    output += Self.frame([1] + Array(name.utf8) + [0] + Array(mac.utf8) + [0])
  }

  private mutating func end(_ problem: Problem) -> Outcome {
    self.problem = problem
    return end("\(problem)")
  }

  private mutating func end(_ reason: String) -> Outcome {
    (state, received, start) = (.ended, [], 0)
    return .end(reason)
  }

  private static func frame(_ body: [UInt8]) -> [UInt8] {
    [1, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
  }

  // MARK: - Sending

  /// The frame of a message; nothing while the connection isn't open, and for a payload of more than `payloadLimit` bytes, which nobody
  /// takes.
  package mutating func frame(_ id: Int, _ payload: [UInt8]) -> [UInt8] {
    guard payload.count <= Self.payloadLimit else { return [] }
    switch state {
    case .plain:
      var bytes: [UInt8] = [0]
      Varint.append(UInt64(payload.count), to: &bytes)
      Varint.append(UInt64(id), to: &bytes)
      return bytes + payload
    case .open(let receiving, var sending):
      let numbers = [id, payload.count].flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
      let sealed = sending.seal(numbers + payload)
      state = .open(receiving: receiving, sending: sending)
      return Self.frame(sealed)
    case .hello, .begun, .handshake, .ended: return []
    }
  }
}
