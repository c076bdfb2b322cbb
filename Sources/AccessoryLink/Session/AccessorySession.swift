// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// An opened accessory: a stream of received bytes and one of sent bytes, without any framing.
///
/// Only one consumer at a time gets the received bytes: a reader of `input` or `messages`, or a `Link`, which keeps the
/// session until it is closed and does the writing, too. A second consumer gets the error `busy`. A session that is
/// released without a close is closed then; its sequences and its link retain it.
public final class AccessorySession: Sendable {
  /// The transport. If you use its queues directly, don't use the session's sequences.
  public let transport: any Transport
  let writers: SpaceWaiters
  let ownership = Locked(SessionOwnership())

  /// The accessory's name for people.
  public var label: String { transport.label }

  /// The settings and modem lines of the accessory's line, and a break; nil where it is on no serial line. May be used
  /// at the same time as a reader or a `Link`, whose timeouts adapt to a change of the speed.
  public var line: (any LineControl)? { transport.line }

  /// A session over an opened transport, which it owns from now on.
  public init(_ transport: any Transport) {
    self.transport = transport
    writers = SpaceWaiters(transport.output)
  }

  /// Opens a serial port or another terminal. Throws what `DescriptorTransport.open` throws.
  public static func open(
    _ configuration: TerminalConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await DescriptorTransport.open(configuration, io: io))
  }

  /// Opens a pair of USB endpoints. Throws what `USBTransport.open` throws.
  public static func open(
    _ configuration: USBTransportConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await USBTransport.open(configuration, io: io))
  }

  deinit { transport.beginClose() }

  /// The bytes that arrive, in pieces as they come. Has one consumer at a time: an iterator, for as long as it exists.
  /// It retains the session.
  ///
  /// Ends normally when the session is closed by this program, and throws once, after the last byte, when the accessory
  /// is unplugged. Throws `busy` when another iterator, or a `Link`, takes the bytes.
  public var input: ByteStream { ByteStream(self) }

  /// The messages that arrive, each as the accessory sent it; nil where the transport carries a stream, in which pieces
  /// mean nothing. Has one consumer at a time: either this, or `input`, or a `Link`. Ends and throws as `input` does.
  public var messages: MessageStream? {
    transport.input.keepsMessages ? MessageStream(self) : nil
  }

  /// Writes bytes in order. Returns when they are queued; waits while the queue is full.
  ///
  /// Concurrent writes of up to 64 KiB each are not mixed. Throws `disconnected`, or `cancelled` when the session is
  /// closed or the task cancelled, `busy` when a `Link` has the session; then a part of a longer write may have been
  /// sent.
  @specialized(where Bytes == [UInt8])
  @specialized(where Bytes == ArraySlice<UInt8>)
  public func write<Bytes: Collection<UInt8>>(_ bytes: Bytes) async throws(AccessoryError) {
    if try writers.writeAtOnce(bytes, limit: Self.writePiece, label: label) { return }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Self.writePiece)
      try await writers.write(Array(piece), label: label)
      rest = rest[piece.endIndex...]
    }
  }

  private static let writePiece = 65_536

  /// Closes; returns when the device is free for others. May be called again.
  public func close() async { await transport.close() }
}
