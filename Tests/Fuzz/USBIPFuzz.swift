// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: what a kernel may send a simulated USB device. Built together with the simulator's sources,
// whose own this is. The first byte chooses the device, and the rest is the stream.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 1 else { return 0 }
  let kinds = SimulatedUSBIdentity.Kind.allCases
  let kind = kinds[Int(data[0]) % kinds.count]
  let stream = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
  let whole = replies(kind, stream, piece: stream.count)
  precondition(whole == replies(kind, stream, piece: 1), "cuts matter")
  precondition(whole == replies(kind, stream, piece: 7), "cuts matter")
  return 0
}

/// What a device answers to a stream that comes in pieces, and what its accessory got.
private func replies(_ kind: SimulatedUSBIdentity.Kind, _ stream: [UInt8], piece: Int) -> [[UInt8]] {
  var device = SimulatedUSBDevice(SimulatedUSBIdentity(kind))
  var decoder = USBIPDecoder()
  var (replies, received): ([UInt8], [UInt8]) = ([], [])
  var start = 0
  do throws(USBIPError) {
    while start < stream.count {
      let end = min(stream.count, start + piece)
      decoder.append(Array(stream[start..<end]))
      start = end
      while let request = try decoder.next() {
        try device.take(request, replies: &replies)
        received += device.received.flatMap { $0 }
        device.received = []
        // The accessory says something after every request, goes deaf at times, and has its faults.
        if case .submit(let transfer) = request {
          device.send([UInt8](repeating: 0x5A, count: Int(transfer.sequence % 700)), replies: &replies)
          device.pause(transfer.sequence % 5 == 0, replies: &replies)
          if transfer.sequence % 11 == 0 { device.stall(replies: &replies) }
          if transfer.sequence % 13 == 0 { device.failTransfer(replies: &replies) }
        }
        precondition(device.transferCount <= SimulatedUSBDevice.mostTransfers + 1, "too many transfers wait")
      }
      precondition(decoder.keptCount <= stream.count, "more is kept than came")
    }
  } catch {
    precondition(decoder.keptCount == 0, "something is kept of a senseless stream")
  }
  return [replies, received]
}
