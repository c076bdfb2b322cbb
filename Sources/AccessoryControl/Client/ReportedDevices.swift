// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A bounded dictionary of the devices that a service reports, by a unique text. A malicious service could report any
/// number of devices, with names of any length.
package struct ReportedDevices<Value: Sendable>: Sendable {
  private var entries: [String: (value: Value, size: Int)] = [:]
  private var byteCount = 0
  private let countLimit: Int
  private let byteLimit: Int

  /// A dictionary of at most `countLimit` devices with at most `byteLimit` bytes in total.
  package init(countLimit: Int = ReplyLimits.devices, byteLimit: Int = ReplyLimits.deviceBytes) {
    self.countLimit = countLimit
    self.byteLimit = byteLimit
  }

  /// The value of this key.
  package subscript(key: String) -> Value? { entries[key]?.value }

  /// All values in the order of their keys.
  package var values: [Value] { entries.sorted { $0.key < $1.key }.map(\.value.value) }

  /// Stores a value, in place of the key's old one. False when there is no room; then nothing changes. `size` is the
  /// number of bytes in the value's texts; the key's bytes are added.
  package mutating func keep(_ value: Value, for key: String, size: Int = 0) -> Bool {
    let size = size + key.utf8.count
    let old = entries[key]
    guard old != nil || entries.count < countLimit, size <= byteLimit - byteCount + (old?.size ?? 0) else {
      return false
    }
    byteCount += size - (old?.size ?? 0)
    entries[key] = (value, size)
    return true
  }

  /// Removes the key's value, and returns it.
  @discardableResult
  package mutating func remove(_ key: String) -> Value? {
    guard let old = entries.removeValue(forKey: key) else { return nil }
    byteCount -= old.size
    return old.value
  }
}
