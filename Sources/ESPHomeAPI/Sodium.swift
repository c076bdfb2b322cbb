// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibsodium

/// The cryptography of the native API besides hashes, by libsodium, which is loaded when it is first used.
package enum Sodium {
  /// What was wrong when the library was loaded; nil if nothing was.
  private static let problem: String? = shim_load_libsodium().map { String(cString: $0) }

  /// Whether the library is there. It is loaded when this is asked for the first time; a function without it gives nothing.
  private static var isThere: Bool { problem == nil }

  /// The length of keys, and of the tag of a sealed message.
  package static let (keyLength, tagLength) = (32, 16)

  /// Throws `unsupported` if the library isn't there.
  package static func load() throws(AccessoryError) {
    guard let problem else { return }
    throw AccessoryError(
      .unsupported, "encryption needs libsodium (\(problem)): sudo apt install libsodium23")
  }

  /// Random bytes for a secret, from the kernel.
  package static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

  /// The public key of a secret one.
  package static func publicKey(of secret: [UInt8]) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: keyLength)
    if isThere { _ = crypto_scalarmult_curve25519_base(&key, secret) }
    return key
  }

  /// The secret that two keys share (X25519); nil for a public key that gives none.
  package static func shared(_ secret: [UInt8], with other: [UInt8]) -> [UInt8]? {
    var shared = [UInt8](repeating: 0, count: keyLength)
    guard isThere, secret.count == keyLength, other.count == keyLength,
      crypto_scalarmult_curve25519(&shared, secret, other) == 0
    else {
      return nil
    }
    return shared
  }

  /// Seals a message (ChaCha20-Poly1305, RFC 8439).
  package static func seal(_ bytes: [UInt8], associated: [UInt8] = [], nonce: [UInt8], key: [UInt8]) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: bytes.count + tagLength)
    guard isThere else { return sealed }
    _ = crypto_aead_chacha20poly1305_ietf_encrypt(
      &sealed, nil, bytes, UInt64(bytes.count), associated, UInt64(associated.count), nil, nonce, key)
    return sealed
  }

  /// Opens a sealed message; nil if it is another's.
  package static func open(_ sealed: [UInt8], associated: [UInt8] = [], nonce: [UInt8], key: [UInt8]) -> [UInt8]? {
    guard isThere, sealed.count >= tagLength else { return nil }
    var bytes = [UInt8](repeating: 0, count: sealed.count - tagLength)
    let isOwn = crypto_aead_chacha20poly1305_ietf_decrypt(
      &bytes, nil, nil, sealed, UInt64(sealed.count), associated, UInt64(associated.count), nonce, key)
    return isOwn == 0 ? bytes : nil
  }
}
