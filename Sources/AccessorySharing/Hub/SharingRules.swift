// SPDX-License-Identifier: Apache-2.0

/// How the clients of one device share it.
public struct SharingRules: Sendable, Hashable {
  /// Whose bytes reach the device.
  public enum Writers: String, Sendable, Hashable, CaseIterable {
    /// Nobody's: all only read.
    case none
    /// Those of the client that writes first, until it leaves.
    case one
    /// Everybody's, as they come; pieces that arrive at once stay together.
    case many
  }

  /// What becomes of a client that doesn't take what the device sends, when its buffer is full.
  public enum SlowReader: String, Sendable, Hashable, CaseIterable {
    /// It is disconnected.
    case close
    /// It misses what doesn't fit.
    case skip
    /// The device is not read until the client takes more: all wait for the slowest.
    case wait
  }

  /// What the clients see when the device is unplugged.
  public enum Unplug: String, Sendable, Hashable, CaseIterable {
    /// They are disconnected.
    case hangUp = "hang-up"
    /// They stay connected, and go on when the device is back. What they send meanwhile is thrown away.
    case keep
  }

  /// Whose bytes reach the device. The default is `many`.
  public var writers = Writers.many
  /// What becomes of a client that is too slow. The default is `close`.
  public var slowReader = SlowReader.close
  /// Bytes that wait for one client, beside those that the kernel holds.
  public var bufferSize = 1 << 20
  /// What an unplug does. The default is `hangUp`.
  public var unplug = Unplug.hangUp
  /// How long a client that sends no more is kept for the device's answer: so much silence of the device. The default
  /// is 500 ms.
  public var linger = Duration.milliseconds(500)

  /// Everybody reads and writes; who is too slow is disconnected; an unplug disconnects all.
  public init() {}
}

/// Something that happened at a hub.
public enum SharingNews: Sendable, Hashable {
  /// The device is open.
  case deviceCame
  /// The device is gone, and why.
  case deviceWent(String)
  /// A client is connected.
  case joined(String)
  /// A client is gone, and why, where that isn't its own doing.
  case left(String, reason: String?)
  /// A connection was turned away, and why.
  case refused(String, reason: String)
  /// What a client sends doesn't reach the device, as it may not write.
  case unheard(String)
  /// A client was too slow, and misses bytes from now on.
  case skipping(String)
  /// What a client asked of the line was not possible.
  case lineRefused(String, reason: String)
}
