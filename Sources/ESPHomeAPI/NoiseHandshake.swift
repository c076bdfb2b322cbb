// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The handshake `Noise_NNpsk0_25519_ChaChaPoly_SHA256` (noiseprotocol.org, revision 34), as ESPHome's native API uses it: both sides
/// prove that they have the key, and get new keys for this connection. A client calls `begin` and `finish`, a server `answer`.
struct NoiseHandshake: Sendable {
  /// Why a client is refused, in the words that clients know.
  enum Refusal: String, Error, Sendable {
    case empty = "Empty handshake message"
    case wrongStart = "Bad handshake error byte"
    case wrongLength = "Bad handshake packet len"
    /// The client has another key.
    case wrongKey = "Handshake MAC failure"
  }

  private static let name = "Noise_NNpsk0_25519_ChaChaPoly_SHA256"

  private var chain: [UInt8]
  private var hash: [UInt8]
  private var key: [UInt8] = []
  /// A client's secret key.
  private var secret: [UInt8] = []

  /// A handshake after a client's hello with this content.
  init(psk: [UInt8], hello: [UInt8]) {
    hash = SHA256.sum(Array(Self.name.utf8))
    chain = hash
    let count = [UInt8(truncatingIfNeeded: hello.count >> 8), UInt8(truncatingIfNeeded: hello.count)]
    mix(hash: Array("NoiseAPIInit".utf8) + count + hello)
    mix(keyAndHash: psk)
  }

  /// Answers the client's message, which begins with a status byte. `secret` is this side's new secret key. Returns the answer with its
  /// status byte, and the keys of both directions.
  mutating func answer(
    _ message: [UInt8], secret: [UInt8]
  ) throws(Refusal) -> (answer: [UInt8], receiving: NoiseCipher, sending: NoiseCipher) {
    let (other, tag) = try parts(message)
    mix(public: other)
    // The tag says whether the client has the key, before anything is computed for it.
    guard opens(tag) else { throw .wrongKey }
    let own = Sodium.publicKey(of: secret)
    mix(public: own)
    guard let shared = Sodium.shared(secret, with: other) else { throw .wrongKey }
    mix(key: shared)
    let sealed = seal()
    let keys = derive([], 2)
    return ([0] + own + sealed, NoiseCipher(keys[0]), NoiseCipher(keys[1]))
  }

  /// A client's message with its status byte. `secret` is its new secret key.
  mutating func begin(secret: [UInt8]) -> [UInt8] {
    self.secret = secret
    let own = Sodium.publicKey(of: secret)
    mix(public: own)
    return [0] + own + seal()
  }

  /// Takes the server's answer to `begin`, with its status byte, and returns the keys of both directions.
  mutating func finish(_ answer: [UInt8]) throws(Refusal) -> (receiving: NoiseCipher, sending: NoiseCipher) {
    let (other, tag) = try parts(answer)
    mix(public: other)
    guard let shared = Sodium.shared(secret, with: other) else { throw .wrongKey }
    mix(key: shared)
    guard opens(tag) else { throw .wrongKey }
    let keys = derive([], 2)
    return (NoiseCipher(keys[1]), NoiseCipher(keys[0]))
  }

  /// The public key and the tag of a message.
  private func parts(_ message: [UInt8]) throws(Refusal) -> (public: [UInt8], tag: [UInt8]) {
    guard let status = message.first else { throw .empty }
    guard status == 0 else { throw .wrongStart }
    guard message.count == 1 + Sodium.keyLength + Sodium.tagLength else { throw .wrongLength }
    return (Array(message[1...Sodium.keyLength]), Array(message[(Sodium.keyLength + 1)...]))
  }

  private mutating func seal() -> [UInt8] {
    let tag = Sodium.seal([], associated: hash, nonce: NoiseCipher.nonce(0), key: key)
    mix(hash: tag)
    return tag
  }

  private mutating func opens(_ sealed: [UInt8]) -> Bool {
    guard Sodium.open(sealed, associated: hash, nonce: NoiseCipher.nonce(0), key: key) != nil else { return false }
    mix(hash: sealed)
    return true
  }

  // MARK: - The symmetric state

  private mutating func mix(hash bytes: [UInt8]) { hash = SHA256.sum(hash + bytes) }

  /// With a psk, a public key goes into both.
  private mutating func mix(public key: [UInt8]) {
    mix(hash: key)
    mix(key: key)
  }

  private mutating func mix(key bytes: [UInt8]) {
    let derived = derive(bytes, 2)
    (chain, key) = (derived[0], derived[1])
  }

  private mutating func mix(keyAndHash bytes: [UInt8]) {
    let derived = derive(bytes, 3)
    chain = derived[0]
    mix(hash: derived[1])
    key = derived[2]
  }

  /// HKDF of the chaining key.
  private func derive(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
    let root = SHA256.authentication(of: bytes, key: chain)
    var outputs: [[UInt8]] = []
    for number in 1...count {
      outputs.append(SHA256.authentication(of: (outputs.last ?? []) + [UInt8(number)], key: root))
    }
    return outputs
  }
}

/// One direction of an encrypted connection.
struct NoiseCipher: Sendable {
  private let key: [UInt8]
  private var number: UInt64 = 0

  init(_ key: [UInt8]) { self.key = key }

  mutating func seal(_ bytes: [UInt8]) -> [UInt8] {
    defer { number += 1 }
    return Sodium.seal(bytes, nonce: Self.nonce(number), key: key)
  }

  /// Nil if the message is another's, or isn't the next one.
  mutating func open(_ sealed: [UInt8]) -> [UInt8]? {
    guard let bytes = Sodium.open(sealed, nonce: Self.nonce(number), key: key) else { return nil }
    number += 1
    return bytes
  }

  /// Four zeros, and the number of the message in 64 bits, the lowest byte first.
  static func nonce(_ number: UInt64) -> [UInt8] {
    [0, 0, 0, 0] + stride(from: 0, to: 64, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
