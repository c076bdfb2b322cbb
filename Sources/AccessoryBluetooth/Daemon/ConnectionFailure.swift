// SPDX-License-Identifier: Apache-2.0

/// Why bluetoothd couldn't connect a device, in words. The codes are those of BlueZ (`src/error.h`), which it sends as the text of an
/// error.
enum ConnectionFailure {
  /// The words for a code, with the code; nil for any other text.
  static func words(_ code: String) -> String? {
    let parts = code.split(separator: "-", maxSplits: 2)
    guard parts.count == 3, ["br", "le"].contains(parts[0]), parts[1] == "connection",
      let words = known[String(parts[2])]
    else { return nil }
    return "\(words) (\(code))"
  }

  private static let known: [String: String] = [
    "already-connected": "it is connected already",
    "page-timeout": "it doesn't answer: is it on, and near enough?",
    "profile-unavailable": "it doesn't have such a service",
    "sdp-search": "it couldn't be asked for its services",
    "create-socket": "bluetoothd got no socket",
    "invalid-arguments": "the address or the channel isn't possible",
    "invalid-argument": "the address or the channel isn't possible",
    "adapter-not-powered": "the adapter is off",
    "not-supported": "the adapter doesn't support it",
    "bad-socket": "the connection broke off",
    "memory-allocation": "this computer has no memory left for it",
    "busy": "the adapter or the device is busy",
    "concurrent-connection-limit": "the adapter has as many connections as it can hold",
    "timeout": "it didn't answer in time",
    "refused": "it refuses the connection",
    "aborted-by-remote": "it broke off the connection",
    "aborted-by-local": "this computer broke off the attempt",
    "abort-by-remote": "it broke off the connection",
    "abort-by-local": "this computer broke off the attempt",
    "lmp-protocol-error": "the two radios didn't understand each other",
    "ll-protocol-error": "the two radios didn't understand each other",
    "canceled": "the attempt was cancelled",
    "key-missing": "the device or this computer has forgotten the pairing: unpair it, and pair it again",
    "unknown": "for a reason that BlueZ doesn't know",
    "gatt-browsing": "its services couldn't be read",
  ]
}
