// SPDX-License-Identifier: Apache-2.0

/// Messages of ESPHome's native API on a connection with a client, as a value: it finds messages in the client's bytes, and makes frames
/// of the server's. With a key all is encrypted; without one nothing is. No clock, no I/O.
package struct NativeLine: Sendable {
  /// A message: its number and its fields.
  package struct Message: Sendable, Hashable {
    package var id: Int
    package var payload: ArraySlice<UInt8>
  }

  /// What came of the client's bytes.
  package enum Outcome: Sendable, Hashable {
    case message(Message)
    /// More bytes are needed.
    case nothing
    /// The connection ends. The reason is for the log.
    case end(String)
  }

  private enum State: Sendable {
    case hello
    case handshake(NoiseHandshake)
    case open(receiving: NoiseCipher, sending: NoiseCipher)
    case plain
    case ended
  }

  private let psk: [UInt8]?
  /// The names that an encrypted server tells before it knows the client.
  private let name, mac: String
  private let makeSecret: @Sendable () -> [UInt8]
  private var state = State.hello
  private var received: [UInt8] = []
  private var start = 0
  /// What is to be sent before anything else.
  package private(set) var output: [UInt8] = []

  /// The longest message without encryption: programs send what they write at once as one message.
  package static let plainLimit = 1 << 20
  private static let handshakeLimit = 128
  /// The longest payload that a frame of the server has.
  package static let payloadLimit = 65_515

  /// A connection; encrypted with a `psk` of 32 bytes. `secret` makes this connection's secret key.
  package init(
    psk: [UInt8]?, name: String, mac: String,
    secret: @escaping @Sendable () -> [UInt8] = { Sodium.random(Sodium.keyLength) }
  ) {
    (self.psk, self.name, self.mac, makeSecret) = (psk, name, mac, secret)
  }

  /// Whether the client may send and get messages.
  package var isOpen: Bool {
    switch state {
    case .open, .plain: true
    case .hello, .handshake, .ended: false
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
      case .hello, .handshake, .open:
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

  // MARK: - Without encryption

  private mutating func nextPlain() -> Outcome {
    let rest = received[start...]
    guard let first = rest.first else { return .nothing }
    guard first == 0 else {
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
    guard length <= Self.plainLimit else { return end("a frame of \(length) bytes is too long") }
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
      output += Self.frame([1] + Array(name.utf8) + [0] + Array(mac.utf8) + [0])
      state = .handshake(NoiseHandshake(psk: psk ?? [], hello: frame))
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
    if let reason {
      // The name comes before the refusal, so that the client can tell whose key is wrong.
      if case .hello = state { output += Self.frame([1] + Array(name.utf8) + [0] + Array(mac.utf8) + [0]) }
      output += Self.frame([1] + Array(reason.utf8))
    }
    return end(log)
  }

  private mutating func end(_ reason: String) -> Outcome {
    (state, received, start) = (.ended, [], 0)
    return .end(reason)
  }

  private static func frame(_ body: [UInt8]) -> [UInt8] {
    [1, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
  }

  // MARK: - Sending

  /// The frame of a message; nothing while the connection isn't open, and for a payload of more than `payloadLimit` bytes, which clients
  /// don't take.
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
    case .hello, .handshake, .ended: return []
    }
  }
}
