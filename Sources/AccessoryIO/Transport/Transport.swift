// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A duplex byte channel to one opened device.
///
/// A transport works on the I/O thread between two queues. It appends received bytes to `input`, whose consumer takes
/// them on its own thread. It writes bytes that producers put into `output`, in order. While `input` is full, the
/// device isn't read; while the device takes nothing, `output` fills up. When the device is unplugged, `input` ends
/// with an error after the last byte, and `output` is closed.
///
/// `close()` sends the bytes first that were accepted for writing, if the device takes them within a bounded time. The input
/// ends at once, without an error.
public protocol Transport: Channel {
  /// How long bytes take on the wire. May change while the device is open: see `line`. Doesn't block.
  var timing: LineTiming { get }
  /// Controls the settings, modem lines and break of a serial line; nil when the device has none. A transport that
  /// wraps another one returns the line of that one.
  var line: (any LineControl)? { get }
  /// The address of the other end of a network connection; nil for other devices.
  var peer: NetworkAddress? { get }
  /// The bytes that have arrived. Has one consumer.
  var input: InputQueue { get }
  /// The bytes to write.
  var output: OutputQueue { get }
}

extension Transport {
  /// Nil: the transport isn't a network connection.
  public var peer: NetworkAddress? { nil }
  /// Nil: the device isn't a serial line.
  public var line: (any LineControl)? { nil }
}

/// How long bytes take on a line, for timeouts.
public struct LineTiming: Sendable, Hashable {
  /// Time of one byte with its start, parity and stop bits; zero when there is no serial line (USB, a pseudo-terminal).
  public var perByte: Duration

  /// A line on which a byte takes `perByte`.
  public init(perByte: Duration) { self.perByte = perByte }

  /// No serial line: bytes take no time.
  public static let instant = LineTiming(perByte: .zero)

  /// An asynchronous serial line. `bits` counts the start, data, parity and stop bits of a byte (10 for 8N1).
  public static func serial(baudRate: UInt32, bits: Int = 10) -> LineTiming {
    LineTiming(perByte: .nanoseconds(1_000_000_000 * Int64(bits) / Int64(max(1, baudRate))))
  }

  /// The pause after which an incomplete frame is discarded: 50 ms, or the time of 20 bytes if that is
  /// longer.
  public var silence: Duration { max(.milliseconds(50), time(of: 20)) }

  /// The time of `count` bytes.
  public func time(of count: Int) -> Duration {
    // Duration's own multiplication is generic, and too slow for code that runs for every request.
    let (product, overflow) = perByte.inNanoseconds.multipliedReportingOverflow(by: Int64(count))
    return .nanoseconds(overflow ? .max : product)
  }
}
