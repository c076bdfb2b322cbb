// SPDX-License-Identifier: Apache-2.0

/// What the remote control of an HM-1X car sends, over and over: how to steer, how fast, and the lights.
///
/// Four bytes: control, steering, acceleration, a colon. Each of the three is below 80, as the remote control passes
/// them through text. Bit 0 and 1 of the control byte are the signs of steering and acceleration, bit 2 and 3 their
/// 128s, bit 4 and 5 the lights.
public struct HM1XFrame: Sendable, Hashable {
  /// What steering and acceleration can be.
  public static let range = -255...255

  /// Where the slider for steering is, −255…255. Its sign is the direction of motor A.
  public let steering: Int
  /// Where the slider for acceleration is, −255…255. Its sign is the direction of motor B.
  public let acceleration: Int
  /// Whether the headlights are on.
  public var headlights: Bool
  /// Whether the brake lights are on.
  public var brakeLights: Bool

  /// Who receives the frames.
  public enum Receiver: Sendable, Hashable, CaseIterable {
    /// One that takes four bytes at a time.
    case window
    /// One that splits at colons, so that only the last byte may be one.
    ///
    /// Values of ±58 and ±186 are sent as one less. Of the one control byte that is a colon (both lights, acceleration
    /// −128 or less, steering 0 to 127) the sign of the steering is set if that is 0, which changes nothing, and the
    /// headlights are left out if not.
    case naive
  }

  /// A frame.
  ///
  /// - Throws: `HM1XFrameError.outOfRange`.
  public init(
    steering: Int, acceleration: Int, headlights: Bool = false, brakeLights: Bool = false
  ) throws(HM1XFrameError) {
    for (name, value) in [("steering", steering), ("acceleration", acceleration)] where !Self.range.contains(value) {
      throw .outOfRange(argument: name, value: value)
    }
    self.steering = steering
    self.acceleration = acceleration
    self.headlights = headlights
    self.brakeLights = brakeLights
  }

  /// Reads the four bytes of a frame. A zero with a sign is a zero.
  ///
  /// - Throws: `HM1XFrameError.noFrame` if there are not four, or bits are set that can't be.
  public init(decoding bytes: [UInt8]) throws(HM1XFrameError) {
    guard bytes.count == Self.pattern.count,
      zip(bytes, zip(Self.mask, Self.pattern)).allSatisfy({ $0 & $1.0 == $1.1 })
    else { throw .noFrame }
    func value(_ byte: UInt8, sign: UInt8, high: UInt8) -> Int {
      let magnitude = Int(byte) + (bytes[0] & high != 0 ? 128 : 0)
      return bytes[0] & sign != 0 ? -magnitude : magnitude
    }
    steering = value(bytes[1], sign: Bit.steeringIsNegative, high: Bit.steeringIsHigh)
    acceleration = value(bytes[2], sign: Bit.accelerationIsNegative, high: Bit.accelerationIsHigh)
    headlights = bytes[0] & Bit.headlights != 0
    brakeLights = bytes[0] & Bit.brakeLights != 0
  }

  /// The four bytes.
  public func encoded(for receiver: Receiver = .window) -> [UInt8] {
    var control: UInt8 = 0
    func byte(_ value: Int, sign: UInt8, high: UInt8) -> UInt8 {
      var magnitude = Int(value.magnitude)
      if value < 0 { control |= sign }
      if magnitude >= 128 {
        control |= high
        magnitude -= 128
      }
      let byte = UInt8(magnitude)
      return receiver == .naive && byte == Self.colon ? byte - 1 : byte
    }
    let first = byte(steering, sign: Bit.steeringIsNegative, high: Bit.steeringIsHigh)
    let second = byte(acceleration, sign: Bit.accelerationIsNegative, high: Bit.accelerationIsHigh)
    if headlights { control |= Bit.headlights }
    if brakeLights { control |= Bit.brakeLights }
    if receiver == .naive, control == Self.colon {
      if steering == 0 { control |= Bit.steeringIsNegative } else { control &= ~Bit.headlights }
    }
    return [control, first, second, Self.colon]
  }

  /// The framing: four bytes of which the last is a colon and the highest bits are clear. After bytes that are
  /// no frame, a frame counts only if another one follows: a colon can be among the first three bytes, too.
  public static var codec: WindowCodec {
    do {
      return try WindowCodec(pattern: pattern, mask: mask)
    } catch {
      preconditionFailure("\(error)")  // these are constants within the codec's bounds
    }
  }

  private static let pattern: [UInt8] = [0, 0, 0, colon]
  private static let mask: [UInt8] = [0xC0, 0x80, 0x80, 0xFF]
  private static let colon = UInt8(ascii: ":")

  private enum Bit {
    static let steeringIsNegative: UInt8 = 0x01
    static let accelerationIsNegative: UInt8 = 0x02
    static let steeringIsHigh: UInt8 = 0x04
    static let accelerationIsHigh: UInt8 = 0x08
    static let headlights: UInt8 = 0x10
    static let brakeLights: UInt8 = 0x20
  }
}

/// Why there can be no such frame.
public enum HM1XFrameError: Error, Sendable, Hashable {
  /// An argument is not within −255…255.
  case outOfRange(argument: String, value: Int)
  /// The bytes are no frame.
  case noFrame
}

extension HM1XFrameError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value): "\(argument) is -255 to 255, not \(value)"
    case .noFrame: "the bytes are no control frame"
    }
  }
}
