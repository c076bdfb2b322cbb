// SPDX-License-Identifier: Apache-2.0

// Frames that don't say what they answer.
extension DescribedCodec {
  /// Tells that a request is sent, and gives its bytes for the wire. Where frames don't say what they answer (Modbus), only
  /// what answers this one is a frame from now on. `isRepeated`: it was sent before, and nothing else since.
  public mutating func begin(_ request: [UInt8], isRepeated: Bool = false) -> [UInt8] {
    guard modbus != nil else { return request }
    var bytes = request
    search { bytes = $0.begin(request, isRepeated: isRepeated) }
    return bytes
  }

  /// The bytes for the wire of a frame that answers a request with this number.
  public func wired(_ frame: [UInt8], number: UInt16?) -> [UInt8] {
    guard modbus != nil, let number else { return frame }
    return ModbusHeader.wrapped(frame, number: number)
  }

  /// Has Modbus frames searched for.
  mutating func search(_ body: (inout ModbusSearch) -> Void) {
    guard var search = modbus else { return }
    // Taken out first, so that what it keeps isn't copied.
    modbus = nil
    body(&search)
    counters = search.counters
    modbus = search
  }
}
