// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Reads what a device advertises: drops what isn't new, decrypts, and makes a frame of it that a description's framings have.
///
/// A frame is FF, the company's number (the lower byte first), the number of bytes behind that, and the company's data, decrypted.
public struct AdvertisementReader: Sendable {
  /// Why nothing can be read.
  public enum Failure: Error, Sendable, Hashable {
    /// The key begins with another byte than that of the device, which is this one.
    case otherKey(UInt8)
    /// The data are so short that parts are missing.
    case cut
  }

  private let advertisement: ProtocolDescription.Advertisement
  private let cipher: AES128?
  private let firstOfKey: UInt8?
  private var lastNonce: [UInt8]?
  /// When something new was heard last.
  private var lastTime: MonotonicTime?
  /// Since when nothing but data of another key was heard.
  private var otherKeySince: MonotonicTime?

  /// How long after the last news a device may have begun to count anew, or may have got another key.
  static let patience = Duration.seconds(10)
  /// How long nothing but data of another key must be heard until the key is wrong. Anybody can send such data.
  static let doubt = Duration.seconds(5)

  /// A reader for advertisements of a description. `key` has 16 bytes; nil where nothing is encrypted. Nil for a wrong key, and without
  /// one that is needed.
  public init?(_ advertisement: ProtocolDescription.Advertisement, key: [UInt8]?) {
    cipher = key.flatMap { AES128(key: $0) }
    if advertisement.encryption != nil, cipher == nil { return nil }
    firstOfKey = key?.first
    self.advertisement = advertisement
  }

  /// The frame of a company's data that were received at `time`; nil where they are of another kind, or are no news: their nonce was
  /// there before, or they are older than the last ones. Somebody may send again what a device has sent earlier.
  public mutating func frame(of data: [UInt8], at time: MonotonicTime) throws(Failure) -> [UInt8]? {
    guard data.starts(with: advertisement.beginning), data.count <= Int(UInt8.max) else { return nil }
    var clear = data
    if let encryption = advertisement.encryption, let cipher {
      guard data.count > encryption.begin else { throw .cut }
      let nonce = Array(data[encryption.nonce])
      let isLate = lastTime.map { time - $0 > Self.patience } ?? true
      guard isNews(nonce, isLate: isLate) else { return nil }
      if let place = encryption.keyByte, let firstOfKey, data[place] != firstOfKey {
        let since = otherKeySince ?? time
        otherKeySince = since
        if isLate, time - since >= Self.doubt { throw .otherKey(data[place]) }
        return nil
      }
      clear.replaceSubrange(encryption.begin..., with: cipher.counterMode(data[encryption.begin...], nonce: nonce))
      lastNonce = nonce
    }
    (lastTime, otherKeySince) = (time, nil)
    return Self.start(advertisement.manufacturer) + [UInt8(clear.count)] + clear
  }

  /// Nonces count. One that is behind the last is old, unless the device was silent: then it may have been off.
  private func isNews(_ nonce: [UInt8], isLate: Bool) -> Bool {
    guard let lastNonce else { return true }
    if nonce == lastNonce { return false }
    return isLate || Self.isAhead(nonce, of: lastNonce)
  }

  /// Whether a number, whose lower byte is the first one, is less than half of all numbers ahead of another.
  private static func isAhead(_ nonce: [UInt8], of other: [UInt8]) -> Bool {
    var borrow = 0
    var highest = 0
    for (a, b) in zip(nonce, other) {
      let difference = Int(a) - Int(b) - borrow
      borrow = difference < 0 ? 1 : 0
      highest = difference & 0xFF
    }
    return highest < 0x80
  }

  /// The bytes with which each frame of a company begins.
  public static func start(_ manufacturer: UInt16) -> [UInt8] {
    [0xFF, UInt8(truncatingIfNeeded: manufacturer), UInt8(truncatingIfNeeded: manufacturer >> 8)]
  }
}
