// SPDX-License-Identifier: Apache-2.0

/// One alternate setting of one interface.
public struct USBInterfaceDescription: Sendable, Hashable {
  /// The interface's number (bInterfaceNumber).
  public var number: UInt8
  /// The number of the alternate setting (bAlternateSetting); 0 is the initial one.
  public var alternateSetting: UInt8
  /// The interface's class.
  public var function: USBClass
  /// The endpoints, without endpoint 0.
  public var endpoints: [USBEndpointDescription]

  package init(number: UInt8, alternateSetting: UInt8, function: USBClass, endpoints: [USBEndpointDescription]) {
    self.number = number
    self.alternateSetting = alternateSetting
    self.function = function
    self.endpoints = endpoints
  }

  /// The first bulk or interrupt endpoint in this direction.
  public func endpoint(_ direction: USBEndpointDescription.Direction) -> USBEndpointDescription? {
    endpoints.first {
      $0.direction == direction && ($0.transfer == .bulk || $0.transfer == .interrupt) && $0.maxPacketSize > 0
    }
  }

  /// True when the interface has a bulk or interrupt endpoint in each direction.
  public var hasPair: Bool { endpoint(.in) != nil && endpoint(.out) != nil }
}

/// One endpoint.
public struct USBEndpointDescription: Sendable, Hashable {
  /// The direction of an endpoint.
  public enum Direction: String, Sendable, Hashable {
    /// To the host.
    case `in`
    /// To the device.
    case out
  }

  /// The transfer type of an endpoint.
  public enum Transfer: String, Sendable, Hashable {
    /// Setup requests and their replies.
    case control
    /// A constant rate, without retransmission.
    case isochronous
    /// Reliable data, whenever the bus has time.
    case bulk
    /// Small reports, which the host polls for at an interval.
    case interrupt
  }

  /// Number and direction as one byte (bEndpointAddress).
  public var address: UInt8
  /// The transfer type.
  public var transfer: Transfer
  /// The size of the largest packet in bytes (wMaxPacketSize, bits 0 to 10).
  public var maxPacketSize: Int
  /// The most packets of an interrupt or isochronous endpoint within 125 µs at high speed: 1 to 3.
  public var packetsPerInterval: Int
  /// The polling interval (bInterval), in units that depend on the speed and the transfer type.
  public var interval: UInt8

  package init(address: UInt8, transfer: Transfer, maxPacketSize: Int, packetsPerInterval: Int, interval: UInt8) {
    self.address = address
    self.transfer = transfer
    self.maxPacketSize = maxPacketSize
    self.packetsPerInterval = packetsPerInterval
    self.interval = interval
  }

  /// The direction.
  public var direction: Direction { address & 0x80 != 0 ? .in : .out }
  /// The endpoint number, 1 to 15.
  public var number: UInt8 { address & 0x0F }
}
