// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The rules for the clients of a shared device.
public struct SharingRules: Sendable, Hashable {
  /// Whose bytes are sent to the device.
  public typealias Writers = SharingWriters

  /// What happens when a client reads too slowly and its buffer is full.
  public enum SlowReader: String, Sendable, Hashable, CaseIterable {
    /// The client is disconnected, unless it is the only reader: then the device waits for it.
    case close
    /// The client loses the bytes that don't fit.
    case skip
    /// The device isn't read until the client's buffer has room, so all clients wait for the slowest.
    case wait
  }

  /// What happens to the clients when the device is unplugged.
  public typealias Unplug = SharingUnplug

  /// Whose bytes are sent to the device. The default is `many`.
  public var writers = Writers.many
  /// What happens to a client that reads too slowly. The default is `close`.
  public var slowReader = SlowReader.close
  /// Whether the only reader of a device holds it back by `close`, in place of being disconnected. False where the device's owner reads
  /// it as well, as the service does.
  package var waitsForOnlyReader = true
  /// The size of a client's buffer in bytes, in addition to the kernel's. The default is 1 MiB.
  public var bufferSize = 1 << 20
  /// The most bytes that wait for all clients together. Beyond it the rule for slow readers applies to the client for which most bytes
  /// wait. The default is 32 MiB. A single client may always use its own buffer.
  public var totalBufferSize = 32 << 20
  /// What happens to the clients at an unplug. The default is `hangUp`.
  public var unplug = Unplug.hangUp
  /// How long a client that has ended its input stays connected. By bytes, the client is disconnected when the device was silent for
  /// this time. By frames, it is disconnected after this time, when all its requests have ended. The default is 500 ms.
  public var linger = Duration.milliseconds(500)

  /// The resets that the hub runs with exact times when an RFC 2217 client begins one by DTR and RTS. The default is none: then
  /// those of the device count (`SharedDevice.resets`), and without these each change is made when it is requested.
  public var resets: [LineReset] = []

  /// The default rules: all clients read and write, slow ones are disconnected, and an unplug disconnects all.
  public init() {}
}

/// An event of a hub.
public enum SharingNews: Sendable, Hashable {
  /// The device was opened.
  case deviceCame
  /// The device is gone, with the reason.
  case deviceWent(String)
  /// A client is connected.
  case joined(String)
  /// A client is gone; with the reason, unless it has left by itself.
  case left(String, reason: String?)
  /// A connection was refused, with the reason.
  case refused(String, reason: String)
  /// A client's bytes are discarded, because it may not write.
  case unheard(String)
  /// A client was too slow and loses bytes from now on.
  case skipping(String)
  /// A client sends bytes that aren't a frame of the device's protocol. They don't reach the device.
  case notAFrame(String)
  /// A client's frame was not passed on, with the reason.
  case frameRefused(String, reason: String)
  /// The device doesn't answer the protocol's opening request, with the reason.
  case noContact(String)
  /// A client has begun a reset by DTR and RTS, and the hub runs it.
  case reset(String, sequence: String)
  /// A client's request to the line has failed, with the reason.
  case lineRefused(String, reason: String)
}
