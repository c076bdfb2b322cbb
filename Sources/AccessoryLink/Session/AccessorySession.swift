// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// An opened accessory: a stream of received bytes and a stream of sent bytes, without framing.
///
/// Only one consumer at a time gets the received bytes: a reader of `input` or `messages`, or a `Link`, which uses the
/// session until it is closed, and writes as well. A second consumer gets the error `busy`. A session that is released
/// without a close is closed then; its sequences and its link retain it.
public final class AccessorySession: Sendable {
  /// The transport. If you use its queues directly, don't use the session's sequences.
  public let transport: any Transport
  let writers: SpaceWaiters
  let ownership = Locked(SessionOwnership())

  /// The accessory's name for people.
  public var label: String { transport.label }

  /// Controls the settings, modem lines and break of a serial line; nil when the accessory isn't on one. May be used at
  /// the same time as a reader or a `Link`, whose timeouts adapt to a change of the speed.
  public var line: (any LineControl)? { transport.line }

  /// A session over an opened transport, which the session owns from now on.
  public init(_ transport: any Transport) {
    self.transport = transport
    writers = SpaceWaiters(transport.output)
  }

  /// Opens a serial port or another terminal. Throws the errors of `DescriptorTransport.open`.
  public static func open(
    _ configuration: TerminalConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await DescriptorTransport.open(configuration, io: io))
  }

  /// Opens a pair of USB endpoints. Throws the errors of `USBTransport.open`.
  public static func open(
    _ configuration: USBTransportConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await USBTransport.open(configuration, io: io))
  }

  deinit { transport.beginClose() }

  /// The received bytes, in pieces of any size. There may be one consumer at a time: an iterator, for as long as it
  /// exists. It retains the session.
  ///
  /// The sequence ends normally when this program closes the session, and throws once, after the last byte, when the
  /// accessory is unplugged. It throws `busy` when another iterator, or a `Link`, takes the bytes.
  public var input: ByteStream { ByteStream(self) }

  /// The received messages, each as the accessory sent it; nil when the transport carries a byte stream. There may be
  /// one consumer at a time: this sequence, `input`, or a `Link`. It ends and throws as `input` does.
  public var messages: MessageStream? {
    transport.input.keepsMessages ? MessageStream(self) : nil
  }

  /// Writes bytes in order. Returns when they are queued; waits while the queue is full.
  ///
  /// Concurrent writes of up to 64 KiB each aren't mixed. Throws `disconnected`, `cancelled` when the session is closed
  /// or the task cancelled, and `busy` when a `Link` uses the session; a part of a longer write may have been sent
  /// then.
  #if compiler(>=6.3)
    @specialized(where Bytes == [UInt8])
    @specialized(where Bytes == ArraySlice<UInt8>)
  #endif
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

  /// Closes the session, and returns when other programs can open the device. May be called more than once.
  public func close() async { await transport.close() }
}
