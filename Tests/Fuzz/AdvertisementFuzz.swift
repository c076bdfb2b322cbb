// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

// A target for libFuzzer: what is advertised. Each piece of the input is a time and a company's data, which a reader with a key, or
// without one, makes a frame of. What is no news gives none, and a frame has the data's length.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 2 else { return 0 }
  var bytes = UnsafeBufferPointer(start: data, count: count)[...]
  let choice = bytes.removeFirst()
  var advertisement = ProtocolDescription.Advertisement(manufacturer: 0x02E1)
  if choice & 1 != 0 { advertisement.beginning = [0x10] }
  let isEncrypted = choice & 2 != 0
  if isEncrypted {
    let begin = 2 + Int(choice >> 4)
    advertisement.encryption = .init(nonce: 1...(begin - 1), keyByte: choice & 4 != 0 ? 0 : nil, begin: begin)
    // A nonce has at most 12 bytes; so the reader of descriptions says.
    if begin > 13 { return 0 }
  }
  let key = [UInt8](repeating: choice & 8 == 0 ? 0x10 : 0, count: 16)
  guard var reader = AdvertisementReader(advertisement, key: isEncrypted ? key : nil) else {
    preconditionFailure("a key of 16 bytes is one")
  }
  var time: Int64 = 0
  var last: [UInt8]?
  while let first = bytes.popFirst() {
    time += Int64(first & 15) * 1_000_000_000
    let piece = Array(bytes.prefix(Int(first >> 4) * 4))
    bytes = bytes.dropFirst(piece.count)
    guard let frame = try? reader.frame(of: piece, at: MonotonicTime(nanoseconds: time)) else { continue }
    precondition(frame.count == piece.count + 4 && Int(frame[3]) == piece.count, "a frame has the data's length")
    precondition(piece.starts(with: advertisement.beginning))
    if let encryption = advertisement.encryption {
      let nonce = Array(piece[encryption.nonce])
      precondition(nonce != last, "the same nonce is no news")
      last = nonce
    }
  }
  return 0
}
