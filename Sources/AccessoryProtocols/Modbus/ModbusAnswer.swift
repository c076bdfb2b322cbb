// SPDX-License-Identifier: Apache-2.0

/// A unit's reply to a request, in the form of a serial line.
public struct ModbusAnswer: Sendable, Hashable {
  /// The frame with its check.
  public let frame: [UInt8]

  /// A reply with the bytes of registers or bits. Unit and function are taken from `request`, a whole frame. `data` has
  /// at most 250 bytes, since a request can't ask for more.
  public init(_ request: [UInt8], data: [UInt8]) {
    self.init(Array(request.prefix(2)) + [UInt8(truncatingIfNeeded: data.count)] + data)
  }

  /// An exception: the unit refuses the request, with the code of the reason.
  public init(_ request: [UInt8], exception: UInt8) {
    var head = Array(request.prefix(2))
    if head.count == 2 { head[1] |= Modbus.exceptionBit }
    self.init(head + [exception])
  }

  private init(_ content: [UInt8]) {
    var frame = content
    ModbusCheck().append(to: &frame)
    self.frame = frame
  }
}
