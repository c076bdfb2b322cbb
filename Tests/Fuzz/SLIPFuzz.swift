// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: SLIP, plain and with a checksum. The first byte chooses which, and the limit.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let limit = [1, 5, 40, 300][choice >> 2 & 3]
  do {
    let codec = try SLIPCodec(maximumPayload: limit, sendsLeadingEnd: choice & 1 == 0)
    if choice & 2 == 0 {
      check(codec, bytes, choice: choice, mostKept: limit) { $0.unfinishedByteCount }
    } else {
      check(CheckedCodec(codec, .sum8), bytes, choice: choice, mostKept: limit) { $0.base.unfinishedByteCount }
    }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
