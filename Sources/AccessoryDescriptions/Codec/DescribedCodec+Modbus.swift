// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// For protocols whose frames don't say which request they answer (Modbus).
extension DescribedCodec {
  /// Notes that a request is sent, and returns its bytes for the wire. Modbus frames don't say which request they
  /// answer, so from now on the codec accepts only frames that answer this one. `isRepeated`: the same request was sent
  /// before, and no other since.
  public mutating func begin(_ request: [UInt8], isRepeated: Bool = false) -> [UInt8] {
    guard modbus != nil else { return request }
    var bytes = request
    search { bytes = $0.begin(request, isRepeated: isRepeated) }
    return bytes
  }

  /// The bytes for the wire of a frame that answers the request with this number.
  public func wired(_ frame: [UInt8], number: UInt16?) -> [UInt8] {
    guard modbus != nil, let number else { return frame }
    return ModbusHeader.wrapped(frame, number: number)
  }

  /// Runs `body` on the search for Modbus frames; does nothing if the protocol isn't Modbus.
  mutating func search(_ body: (inout ModbusSearch) -> Void) {
    guard var search = modbus else { return }
    // The search is taken out of the property first, so that its bytes aren't copied.
    modbus = nil
    body(&search)
    counters = search.counters
    modbus = search
  }
}
