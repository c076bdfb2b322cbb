// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: fixed windows. The first byte chooses the pattern.

private let windows: [(pattern: [UInt8], mask: [UInt8])] = [
  ([0, 0, 0, 0x3A], [0xC0, 0x80, 0x80, 0xFF]), ([0x3A], [0xFF]), ([0x30, 0], [0xF0, 0]),
  ([1, 2, 3, 4, 5], [0, 0x0F, 1, 0xFF, 0]),
]

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let window = windows[choice % windows.count]
  do {
    let codec = try WindowCodec(pattern: window.pattern, mask: window.mask)
    check(codec, bytes, choice: choice, mostKept: 2 * window.pattern.count - 1) { $0.unfinishedByteCount }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
