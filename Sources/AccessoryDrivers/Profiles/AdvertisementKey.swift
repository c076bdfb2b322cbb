// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// The key of a device that encrypts what it advertises: 16 bytes.
public enum AdvertisementKey: Sendable, Hashable {
  /// These bytes.
  case bytes([UInt8])
  /// 32 hexadecimal digits in the file with this path.
  case file(String)

  /// The number of its bytes.
  static let size = 16
  private static let fileLimit = 256

  /// The bytes that these 32 hexadecimal digits are; nil for any other text.
  init?(_ text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(text), bytes.count == Self.size else { return nil }
    self = .bytes(bytes)
  }

  /// Its bytes. Throws when its file can't be read, and `misconfigured` when something else is in it.
  func read(for label: String) async throws(AccessoryError) -> [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .file(let path):
      let text = try await SetupQueue(label: label).run { () throws(AccessoryError) in
        do throws(Errno) {
          return try SmallFile.read(path, limit: Self.fileLimit)
        } catch {
          throw AccessoryError(errno: error, "reading the key of \(label) from \(SafeText.escape(path))")
        }
      }
      let digits = String(decoding: text, as: UTF8.self).split { $0.isWhitespace }
      guard digits.count == 1, case .bytes(let bytes)? = AdvertisementKey(digits[0]) else {
        throw AccessoryError(
          .misconfigured, "\(SafeText.escape(path)) isn't the key of \(label): it must have 32 hexadecimal digits")
      }
      return bytes
    }
  }
}
