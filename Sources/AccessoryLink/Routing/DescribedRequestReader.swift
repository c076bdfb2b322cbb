// SPDX-License-Identifier: Apache-2.0

import AccessoryDescriptions
import AccessoryProtocols

/// Identifies the request in a client's frame, by the description of the protocol.
struct DescribedRequestReader: Sendable {
  /// A codec that decodes clients' frames.
  let codec: DescribedCodec
  private let description: ProtocolDescription
  private let decoder: MessageDecoder

  init(_ codec: DescribedCodec) {
    self.codec = codec
    description = codec.description
    decoder = MessageDecoder(codec)
  }

  /// Returns the request in a frame, and whether it may change something in the accessory. A request that the description doesn't have
  /// counts as a write. Returns nil when the frame can't be encoded again.
  func request(
    _ header: DescribedHeader, _ content: [UInt8]
  ) -> (request: DescribedRelay.Request, isWrite: Bool)? {
    var plain = header
    // `DescribedCodec.begin` adds the network header when the request is sent.
    plain.number = nil
    var frame: [UInt8] = []
    do throws(FrameEncodingError) {
      try codec.encode(plain, payload: content, into: &frame)
    } catch {
      return nil
    }
    var request = DescribedRelay.Request(frame: frame)
    request.unit = address(header, content).flatMap { address in description.units.map { address &- $0.sentOffset } }
    if description.modbus != nil {
      let function = content.count > 1 ? Int(content[1]) : 0
      request.name = "function \(function)"
      return (request, !Modbus.readFunctions.contains(function))
    }
    let fitting = description.requests.indices.filter { fits($0, header, content) }
    guard let index = fitting.first else { return (request, true) }
    request.index = index
    request.name = description.requests[index].name
    for element in 0..<64 { request.elements[element] = decoder.number(element, header, content.span.bytes) }
    return (request, fitting.contains { description.requests[$0].isWrite })
  }

  /// The address of the unit that the request is for, as encoded in the frame; nil if the frame has none.
  private func address(_ header: DescribedHeader, _ content: [UInt8]) -> Int? {
    description.unitElement(of: header.framing).flatMap { decoder.number($0, header, content.span.bytes) }
  }

  private func fits(_ index: Int, _ header: DescribedHeader, _ content: [UInt8]) -> Bool {
    let request = description.requests[index]
    guard case .frame(header.framing, let numbers, let parts) = request.sends,
      numbers.allSatisfy({ decoder.number($0.key, header, content.span.bytes) == $0.value })
    else { return false }
    let body = Array(content[header.body])
    if let address = address(header, content) { return RequestMatch.fits(parts, request, body, address: address) }
    guard let units = description.units else { return RequestMatch.fits(parts, request, body, address: nil) }
    return units.range.contains { RequestMatch.fits(parts, request, body, address: $0 &+ units.sentOffset) }
  }
}
