// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: the whole line of an HM-10, with connections and scans in it. The first byte chooses the
// dialect and whether a scan is under way; a byte of FF in the rest is silence.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let whole = parts(of: bytes, choice, isSlow: false)
  let slow = parts(of: bytes, choice, isSlow: true)
  precondition(whole == slow, "it matters how the bytes are cut")
  return 0
}

/// What comes of the bytes, with neighbouring data joined, since how it is cut means nothing.
private func parts(of bytes: [UInt8], _ choice: Int, isSlow: Bool) -> [[UInt8]] {
  var codec = HM10LineCodec()
  if choice % 2 == 1 { codec.dialect = .clone }
  codec.isScanning = choice / 2 % 2 == 1
  var batch = FrameBatch<HM10PieceKind>()
  for piece in bytes.split(separator: 0xFF, omittingEmptySubsequences: false) {
    let piece = Array(piece)
    if isSlow {
      for byte in piece { codec.decode([byte].span.bytes, into: &batch) }
    } else {
      codec.decode(piece.span.bytes, into: &batch)
    }
    precondition(codec.unfinishedByteCount <= HM10Limits.reply + 20, "it keeps too much")
    codec.idle(into: &batch)
    precondition(!codec.hasUnfinishedFrame, "something outlasts silence")
  }
  var parts: [[UInt8]] = []
  var isData = false
  for index in 0..<batch.count {
    let part = batch.header(at: index)
    if part == .data, isData {
      parts[parts.count - 1] += batch.payloadBytes(at: index)
    } else {
      parts.append(
        [part == .data ? 1 : part == .lost ? 2 : 0, batch.outcome(at: index).rawValue] + batch.payloadBytes(at: index))
    }
    isData = part == .data
  }
  return parts
}
