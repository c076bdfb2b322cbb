// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: the HM-1X's control frames.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (_, bytes) = input(data, count) else { return 0 }
  var codec = HM1XFrame.codec
  var batch = FrameBatch<NoHeader>()
  codec.decode(bytes.span.bytes, into: &batch)
  for index in 0..<batch.count {
    // The codec lets nothing else through.
    guard let frame = try? HM1XFrame(decoding: batch.payloadBytes(at: index)) else { preconditionFailure() }
    precondition((try? HM1XFrame(decoding: frame.encoded())) == frame, "a frame changes")
    let wire = frame.encoded(for: .naive)
    precondition(wire.firstIndex(of: 0x3A) == 3, "a colon is where none may be")
    guard let received = try? HM1XFrame(decoding: wire) else { preconditionFailure() }
    precondition(abs(received.steering - frame.steering) <= 1 && abs(received.acceleration - frame.acceleration) <= 1)
  }
  _ = try? HM1XFrame(decoding: bytes)
  return 0
}
