// SPDX-License-Identifier: Apache-2.0

/// What a unit answers to a request, as a frame of a serial line.
public struct ModbusAnswer: Sendable, Hashable {
  /// The frame with its check.
  public let frame: [UInt8]

  /// These bytes of registers or bits. `request` is a whole frame, of which unit and function are taken; `data` has at most
  /// 250 bytes, as no more can be asked for.
  public init(_ request: [UInt8], data: [UInt8]) {
    self.init(Array(request.prefix(2)) + [UInt8(truncatingIfNeeded: data.count)] + data)
  }

  /// An exception: that it can't, and why.
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
