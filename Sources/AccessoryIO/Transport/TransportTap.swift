// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Sees the bytes that pass a transport, without touching them.
public protocol TransportTap: AnyObject, Sendable {
  /// Bytes are passing: from the device when they were read, to the device when they are about to be written. Called
  /// on the I/O thread, in the order of both directions together; must not block.
  func passed(_ direction: ByteDirection, _ bytes: RawSpan)
}

/// A transport with somebody listening.
public final class TappedTransport: Transport {
  private let base: any Transport

  /// Listens to `base`; set before traffic begins. The tap is kept for as long as the transport.
  public init(_ base: any Transport, tap: any TransportTap) {
    self.base = base
    base.input.listen { tap.passed(.fromDevice, $0) }
    base.output.listen { tap.passed(.toDevice, $0) }
  }

  /// The device's name for people.
  public var label: String { base.label }
  /// How long bytes take on the wire.
  public var timing: LineTiming { base.timing }
  /// The line beside its bytes.
  public var line: (any LineControl)? { base.line }
  /// Who is at the other end of a connection over the network.
  public var peer: NetworkAddress? { base.peer }
  /// What has arrived.
  public var input: InputQueue { base.input }
  /// What is to be written.
  public var output: OutputQueue { base.output }
  /// Stops and closes the device.
  public func close() async { await base.close() }
  /// As `close()`, without waiting.
  public func beginClose() { base.beginClose() }
  /// Tells the device's transport.
  public func deviceWasRemoved() { base.deviceWasRemoved() }
}
