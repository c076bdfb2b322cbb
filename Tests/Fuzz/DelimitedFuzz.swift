// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: records that end with a delimiter. The first byte chooses format and limit.

private let formats = [
  DelimitedFormat.lineFeed, .carriageReturn, .carriageReturnLineFeed, .anyLineEnd, .hdlc,
  DelimitedFormat(.sequence([0x0A]), escape: .init(0x5C), keepsEmpty: true),
  DelimitedFormat(.sequence([0x0D, 0x0A]), escape: .init(0x10, mask: 0x40), keepsEmpty: true),
  DelimitedFormat(.sequence([0x61, 0x61, 0x62])),
  DelimitedFormat(.sequence([0x61, 0x62, 0x61, 0x63]), keepsEmpty: true),
  DelimitedFormat(.anyOf([0x61, 0x62, 0x63], sent: [0x62]), escape: .init(0x64, mask: 0x80)),
]

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let limit = [1, 5, 40, 300][choice / formats.count % 4]
  do {
    let codec = try DelimitedCodec(formats[choice % formats.count], maximumPayload: limit)
    check(codec, bytes, choice: choice, mostKept: limit) { $0.unfinishedByteCount }
  } catch {
    preconditionFailure("\(error)")
  }
  return 0
}
