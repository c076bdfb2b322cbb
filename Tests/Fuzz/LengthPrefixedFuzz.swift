// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: length-prefixed frames. The first byte chooses width, order and limits.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let limit = [1, 9, 100, 255][choice >> 3 & 3]
  do {
    let codec = try LengthPrefixedCodec(
      prefixByteCount: choice % 4 + 1, byteOrder: choice & 4 == 0 ? .littleEndian : .bigEndian,
      minimumPayload: min(limit, choice >> 5), maximumPayload: limit)
    check(codec, bytes, choice: choice, mostKept: limit - 1) { $0.unfinishedByteCount }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
