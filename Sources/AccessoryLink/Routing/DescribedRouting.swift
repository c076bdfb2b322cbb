// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

/// Routes the frames of a described protocol. These frames have no numbers, so only one request at a time is unanswered, and the frames
/// that answer it go to the client that made it.
struct DescribedRouting: RoutedProtocol {
  var rules: DescribedRelay
  let needsContact = true
  /// Nil: the codec finds the next frame after a damaged one without a timeout, and a person may type frames slowly.
  let halfFramePatience: Duration? = nil
  let asksAgain = true
  let newMemory: Void = ()

  private let reader: DescribedRequestReader
  private let allowsWrites: Bool

  /// Returns nil if a request of the protocol isn't sent as a frame. Throws `misconfigured` if the protocol's framing isn't possible.
  init?(
    _ description: ProtocolDescription, label: String, wire: ModbusWire, allowsWrites: Bool
  ) throws(AccessoryError) {
    guard !description.requests.contains(where: { if case .bytes = $0.sends { true } else { false } }) else {
      return nil
    }
    do throws(FramingParameterError) {
      rules = DescribedRelay(try DescribedCodec(description, wire: wire), label: label)
      reader = DescribedRequestReader(try DescribedCodec(description, side: .accessory, wire: wire))
    } catch {
      throw AccessoryError(.misconfigured, "the protocol \(description.name) can't have such frames: \(error)")
    }
    self.allowsWrites = allowsWrites
  }

  func makeCodec() -> DescribedCodec { reader.codec }

  func window(for request: DescribedRelay.Request) -> Int { 1 }

  func read(
    _ batch: FrameBatch<DescribedHeader>, at index: Int, allowsWrites mayWrite: Bool
  ) -> ClientFrame<DescribedRelay.Request> {
    let header = batch.header(at: index)
    guard let (request, isWrite) = reader.request(header, batch.payloadBytes(at: index)) else {
      return .refuse("it sent a frame that can't be sent again", answer: nil)
    }
    guard allowsWrites && mayWrite || !isWrite else {
      return .refuse(
        "\(request.name) may change something in the accessory: for that, bridge needs --write, and the accessory's profile must "
          + "say writes: allowed", answer: nil)
    }
    return .ask(request, number: header.number ?? 0)
  }

  func isRepeat(
    _ one: RoutedRequest<DescribedRelay.Request>, of other: RoutedRequest<DescribedRelay.Request>
  ) -> Bool {
    one.number == other.number && one.request.frame == other.request.frame
  }

  mutating func message(_ request: DescribedRelay.Request) -> [UInt8] { request.frame }

  /// Returns nil, because `part` passes on each frame of a reply as it arrives.
  func reply(
    to request: RoutedRequest<DescribedRelay.Request>, _ result: Result<Bool, AccessoryError>,
    frame: (batch: FrameBatch<DescribedHeader>, index: Int)?
  ) -> [UInt8]? { nil }

  func part(
    _ batch: FrameBatch<DescribedHeader>, at index: Int, of request: RoutedRequest<DescribedRelay.Request>,
    since before: LinkCounters
  ) -> [UInt8]? {
    // The rules have counted this frame as a reply if it is one.
    guard rules.counters.replies > before.replies else { return nil }
    var header = batch.header(at: index)
    if header.number != nil { header.number = request.number }
    var bytes: [UInt8] = []
    do throws(FrameEncodingError) {
      try rules.codec.encode(header, payload: batch.payloadBytes(at: index), into: &bytes)
      return bytes
    } catch {
      return nil
    }
  }

  mutating func expire(now: MonotonicTime, into batch: inout FrameBatch<DescribedHeader>) {
    if rules.isTimingOut(now: now) { rules.codec.expire(into: &batch) }
  }
}
