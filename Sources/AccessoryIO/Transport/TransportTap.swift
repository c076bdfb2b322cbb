// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Observes the bytes that pass a transport.
public protocol TransportTap: AnyObject, Sendable {
  /// Called with bytes from the device after they were read, and with bytes to the device before they are written. Runs
  /// on the I/O thread, in the order of both directions together, and must not block.
  func passed(_ direction: ByteDirection, _ bytes: RawSpan)
}

/// A transport whose traffic is passed to a `TransportTap`.
public final class TappedTransport: Transport {
  private let base: any Transport

  /// Wraps `base`. Create it before there is traffic. The tap is retained for as long as the transport.
  public init(_ base: any Transport, tap: any TransportTap) {
    self.base = base
    base.input.listen { tap.passed(.fromDevice, $0) }
    base.output.listen { tap.passed(.toDevice, $0) }
  }

  /// The device's name for people.
  public var label: String { base.label }
  /// How long bytes take on the wire.
  public var timing: LineTiming { base.timing }
  /// The settings and modem lines of the serial line, if it is one.
  public var line: (any LineControl)? { base.line }
  /// The address of the other end of a network connection.
  public var peer: NetworkAddress? { base.peer }
  /// The bytes that have arrived.
  public var input: InputQueue { base.input }
  /// The bytes to write.
  public var output: OutputQueue { base.output }
  /// Stops and closes the device.
  public func close() async { await base.close() }
  /// As `close()`, without waiting.
  public func beginClose() { base.beginClose() }
  /// Tells the device's transport.
  public func deviceWasRemoved() { base.deviceWasRemoved() }
}
