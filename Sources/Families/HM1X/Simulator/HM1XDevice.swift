// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryProtocols
import AccessorySimulator
import FamilyHM1X

/// A simulated car, on a pseudo-terminal.
public typealias HM1XSimulator = SerialSimulator<HM1XDevice>

/// The state of a simulated car, which receives control frames.
public struct HM1XDevice: SerialDevice {
  /// The car's configuration.
  public struct Configuration: Sendable, Hashable {
    /// How the car finds frames: as four bytes at a time, or as bytes between colons. The default is `window`.
    public var receiver = HM1XFrame.Receiver.window
    /// The name.
    public var name = "HM-1X car"
    /// The serial number.
    public var serialNumber = "CAR0001"

    /// The default configuration.
    public init() {}
  }

  /// An event of the car: a frame that differs from the last one.
  public typealias News = HM1XFrame
  /// The car schedules no actions.
  public enum ScheduledAction: Sendable, Hashable {}

  /// The car's configuration.
  public let configuration: Configuration
  /// The last frame; nil before the first.
  public private(set) var frame: HM1XFrame?
  /// The number of frames received.
  public private(set) var frameCount = 0
  /// The number of bytes outside frames.
  public private(set) var strayBytes = 0
  private var codec = HM1XFrame.codec
  private var part: [UInt8] = []

  /// A standing car.
  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  /// The name of its driver.
  public static var driver: String { "hm1x" }

  /// Nil: bytes are handled as they arrive.
  public var pause: Duration? { nil }

  /// The announcement for other programs.
  public var announcement: Announcement {
    Announcement(
      path: "", driver: Self.driver, name: configuration.name, model: "HM-1X", serial: configuration.serialNumber)
  }

  /// Switches the car on.
  public mutating func start() -> [SerialEffect<Self>] {
    codec.reset()
    part = []
    return []
  }

  /// Never called: the car schedules no actions.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {}

  /// Handles control frames.
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
      effects.append(.report(next))
    }
    return effects
  }

  /// Takes three bytes between two colons for a frame, so this fails for frames that contain another colon.
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
