// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A duplex byte channel to one opened device.
///
/// A transport is an engine on the I/O thread between two queues. Bytes that arrive are appended to `input`, whose
/// consumer takes them on a thread of its own; bytes that a producer put into `output` are written in order. A full
/// `input` stops reading from the device, a device that takes nothing fills `output`: so pressure goes back through.
/// When the device goes, `input` ends with the error, once, behind the last byte; `output` takes no more.
public protocol Transport: AnyObject, Sendable {
  /// The device as a person would name it ("/dev/ttyUSB0"), for errors and logs.
  var label: String { get }
  /// How long bytes take on the wire. May change while the device is open: see `line`. Must not block.
  var timing: LineTiming { get }
  /// The settings and modem lines of a serial line, and a break; nil where there is none. A transport over another one
  /// passes on what that has.
  var line: (any LineControl)? { get }
  /// Who is at the other end, where that is a connection over the network.
  var peer: NetworkAddress? { get }
  /// What has arrived. Has one consumer.
  var input: InputQueue { get }
  /// What is to be written.
  var output: OutputQueue { get }
  /// Stops, puts the device's settings back and closes it. Returns when the device is free for others; may be called
  /// by anyone, as often as they like. A consumer still reading sees a normal end, at once. What was accepted for
  /// writing goes out first where there is a device that takes it, for a bounded time.
  func close() async
  /// As `close()`, without waiting.
  func beginClose()
  /// Somebody who knows says that the device is gone (udev's `remove`): ends as if the transport had found out itself.
  func deviceWasRemoved()
}

extension Transport {
  /// Nobody on the network.
  public var peer: NetworkAddress? { nil }
  /// No line.
  public var line: (any LineControl)? { nil }
}

/// How long bytes take on a line, for time limits.
public struct LineTiming: Sendable, Hashable {
  /// Time of one byte with its start, parity and stop bits; zero where there is no line (USB, a pseudo-terminal).
  public var perByte: Duration

  /// A line whose byte takes `perByte`.
  public init(perByte: Duration) { self.perByte = perByte }

  /// No line at all.
  public static let instant = LineTiming(perByte: .zero)

  /// An asynchronous serial line: `bits` counts start, data, parity and stop bits of a byte (10 for 8N1).
  public static func serial(baudRate: UInt32, bits: Int = 10) -> LineTiming {
    LineTiming(perByte: .nanoseconds(1_000_000_000 * Int64(bits) / Int64(max(1, baudRate))))
  }

  /// The pause after which an unfinished frame no longer holds up what follows it, by the AF1 specification: 50 ms, or
  /// the time of 20 bytes where that is longer.
  public var silence: Duration { max(.milliseconds(50), time(of: 20)) }

  /// Time of `count` bytes.
  public func time(of count: Int) -> Duration {
    // Duration's own multiplication is generic, and slow for what is done with every request.
    let (product, overflow) = perByte.inNanoseconds.multipliedReportingOverflow(by: Int64(count))
    return .nanoseconds(overflow ? .max : product)
  }
}
