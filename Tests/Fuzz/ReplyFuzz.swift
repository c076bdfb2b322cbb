// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: replies that end by a pattern or by silence. The first byte chooses patterns and limit.

private let lists: [[ReplyPattern]] = [
  [
    ReplyPattern("OK"), ReplyPattern("OK+LOST"), ReplyPattern("OK+CONN"), ReplyPattern("OK+CONNA"),
    ReplyPattern("OK+CONN", .digit), ReplyPattern("OK+CONN:", .hexDigit, count: 12), ReplyPattern("OK+Get:", .digit),
    ReplyPattern("OK+Get:", .digit, count: 3), ReplyPattern("OK+NAME:", terminator: [0x0D, 0x0A]),
  ],
  [
    ReplyPattern("a"), ReplyPattern("ab"), ReplyPattern("a", .any), ReplyPattern("abc", terminator: Array("aa".utf8)),
    ReplyPattern("", terminator: Array("zz".utf8)),
  ],
  [],
]

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let limit = [20, 60, 300][choice / 3 % 3]
  do {
    let codec = try ReplyCodec(patterns: lists[choice % 3], maximumPayload: limit)
    check(codec, bytes, choice: choice, mostKept: limit) { $0.unfinishedByteCount }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
