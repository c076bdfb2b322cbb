// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols

/// A pretended car, on a pseudo-terminal.
public typealias HM1XSimulator = SerialSimulator<HM1XDevice>

/// A pretended car, which takes control frames.
public struct HM1XDevice: SerialDevice {
  /// What it is like.
  public struct Configuration: Sendable, Hashable {
    /// Who reads the frames: four bytes at a time, or whatever is between colons. The default is `window`.
    public var receiver = HM1XFrame.Receiver.window
    /// Its name.
    public var name = "HM-1X car"
    /// Its serial number.
    public var serialNumber = "CAR0001"

    /// A car as it comes.
    public init() {}
  }

  /// What it tells of itself: a frame that says something else than the last.
  public typealias News = HM1XFrame
  /// It does nothing later.
  public enum Moment: Sendable, Hashable {}

  /// What it is like.
  public let configuration: Configuration
  /// What it does.
  public private(set) var frame: HM1XFrame?
  /// Frames that it took in all.
  public private(set) var frameCount = 0
  /// Bytes that were in no frame.
  public private(set) var strayBytes = 0
  private var codec = HM1XFrame.codec
  private var part: [UInt8] = []

  /// A car that stands still.
  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  /// The driver that speaks with it.
  public static var driver: String { "hm1x" }

  /// It takes bytes as they come.
  public var pause: Duration? { nil }

  /// By what it is known.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: configuration.name, model: "HM-1X", serial: configuration.serialNumber)
  }

  /// Switched on, it expects the beginning of a frame.
  public mutating func start() -> [SerialEffect<Self>] {
    codec.reset()
    part = []
    return []
  }

  /// It does nothing later.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {}

  /// Takes frames.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    var frames: [HM1XFrame] = []
    if configuration.receiver == .window {
      var batch = FrameBatch<NoHeader>()
      codec.decode(bytes.span.bytes, into: &batch)
      frames = (0..<batch.count).compactMap { try? HM1XFrame(decoding: batch.payloadBytes(at: $0)) }
      strayBytes = Int(clamping: codec.counters.skippedBytes)
    } else {
      for byte in bytes { if let frame = takeNaively(byte) { frames.append(frame) } }
    }
    frameCount += frames.count
    var effects: [SerialEffect<Self>] = []
    for next in frames where next != frame {
      frame = next
      effects.append(.tell(next))
    }
    return effects
  }

  /// What is between two colons is a frame if it has three bytes: so the other bytes must not be colons.
  private mutating func takeNaively(_ byte: UInt8) -> HM1XFrame? {
    guard byte == UInt8(ascii: ":") else {
      if part.count < 64 { part.append(byte) }
      return nil
    }
    defer { part = [] }
    guard let frame = try? HM1XFrame(decoding: part + [byte]) else {
      strayBytes += part.count + 1
      return nil
    }
    return frame
  }
}
