// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A duplex byte channel to one opened device.
///
/// A transport works on the I/O thread between two queues. Received bytes are appended to `input`, whose consumer takes
/// them on its own thread. Bytes that producers put into `output` are written in order. While `input` is full, the
/// device isn't read; while the device takes nothing, `output` fills up. When the device is unplugged, `input` ends
/// with the error after the last byte, and `output` is closed.
public protocol Transport: AnyObject, Sendable {
  /// The device as a person would name it ("/dev/ttyUSB0"), for errors and logs.
  var label: String { get }
  /// How long bytes take on the wire. May change while the device is open: see `line`. Must not block.
  var timing: LineTiming { get }
  /// The settings and modem lines of a serial line, and a break; nil where there is none. A transport that wraps
  /// another one returns the line of that one.
  var line: (any LineControl)? { get }
  /// The address of the other end, for a connection over the network.
  var peer: NetworkAddress? { get }
  /// The bytes that have arrived. Has one consumer.
  var input: InputQueue { get }
  /// The bytes to write.
  var output: OutputQueue { get }
  /// Closes the device and restores its settings. Returns when other programs can open it. May be called from any task
  /// and more than once. The input ends at once, without an error. Bytes that were accepted for writing are sent first,
  /// if the device takes them within a bounded time.
  func close() async
  /// As `close()`, without waiting.
  func beginClose()
  /// Tells the transport that the device was removed, as udev reported. It then ends as if it had noticed that itself.
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

  /// The pause after which an unfinished frame is given up, by the AF1 specification: 50 ms, or the time of 20 bytes
  /// where that is longer.
  public var silence: Duration { max(.milliseconds(50), time(of: 20)) }

  /// Time of `count` bytes.
  public func time(of count: Int) -> Duration {
    // Duration's own multiplication is generic and too slow, as this runs for every request.
    let (product, overflow) = perByte.inNanoseconds.multipliedReportingOverflow(by: Int64(count))
    return .nanoseconds(overflow ? .max : product)
  }
}
