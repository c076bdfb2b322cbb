// SPDX-License-Identifier: Apache-2.0

/// A bounded dictionary of the devices that a service reports, by a unique text. A hostile service could report any
/// number of devices, with names of any length.
package struct ReportedDevices<Value: Sendable>: Sendable {
  private var entries: [String: (value: Value, size: Int)] = [:]
  private var byteCount = 0
  private let countLimit: Int
  private let byteLimit: Int

  /// Keeps at most `countLimit` devices, whose sizes are `byteLimit` bytes together at most.
  package init(countLimit: Int = ReplyLimits.devices, byteLimit: Int = ReplyLimits.deviceBytes) {
    self.countLimit = countLimit
    self.byteLimit = byteLimit
  }

  /// The value of this key.
  package subscript(key: String) -> Value? { entries[key]?.value }

  /// All values, in the order of their keys.
  package var values: [Value] { entries.sorted { $0.key < $1.key }.map(\.value.value) }

  /// Keeps a value in place of the one of the same key. False when there is no room for it: then nothing changes.
  /// `size` counts the bytes of its texts; those of the key are added.
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

  /// Removes the value of this key, and returns it.
  @discardableResult
  package mutating func remove(_ key: String) -> Value? {
    guard let old = entries.removeValue(forKey: key) else { return nil }
    byteCount -= old.size
    return old.value
  }
}
