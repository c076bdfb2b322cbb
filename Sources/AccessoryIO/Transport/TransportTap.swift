// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Observes the bytes that pass a transport.
public protocol TransportTap: AnyObject, Sendable {
  /// Called with bytes from the device after they were read, and with bytes to the device before they are written. Runs
  /// on the I/O thread, with the bytes of both directions in the order in which they pass, and must not block.
  func passed(_ direction: ByteDirection, _ bytes: RawSpan)

  /// Called with what happened on the way by which the bytes pass, in a few words for people, where a transport tells that: a
  /// connection on the air was made, or has ended. Words of strangers are escaped in it. Runs on any thread, and must not block.
  func noted(_ text: String)
}

extension TransportTap {
  /// Ignores it.
  public func noted(_ text: String) {}
}

/// A transport that passes its traffic to a `TransportTap` as well.
public final class TappedTransport: Transport {
  private let base: any Transport

  /// Wraps `base`. Create it before there is traffic. The tap is retained for as long as `base`.
  public init(_ base: any Transport, tap: any TransportTap) {
    self.base = base
    base.input.listen { tap.passed(.fromDevice, $0) }
    base.output.listen { tap.passed(.toDevice, $0) }
  }

  /// The device's name for people.
  public var label: String { base.label }
  /// How long bytes take on the wire.
  public var timing: LineTiming { base.timing }
  /// The settings and modem lines; nil when the device isn't a serial line.
  public var line: (any LineControl)? { base.line }
  /// The address of the other end of a network connection.
  public var peer: NetworkAddress? { base.peer }
  /// The bytes that have arrived.
  public var input: InputQueue { base.input }
  /// The bytes to write.
  public var output: OutputQueue { base.output }
  /// Closes the device.
  public func close() async { await base.close() }
  /// Starts `close()` without waiting for it.
  public func beginClose() { base.beginClose() }
  /// Passes the report on to `base`.
  public func deviceWasRemoved() { base.deviceWasRemoved() }
}
