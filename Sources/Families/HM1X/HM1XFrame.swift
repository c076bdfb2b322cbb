// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A frame that the remote control of an HM-1X car sends again and again: steering, acceleration, and the lights.
///
/// A frame has four bytes: control, steering, acceleration, a colon. The first three are below 80, as the remote
/// control handles them as text. Bits 0 and 1 of the control byte are the signs of steering and acceleration, bits 2
/// and 3 mean that 128 is added to them, and bits 4 and 5 are the lights.
public struct HM1XFrame: Sendable, Hashable {
  /// The range of steering and acceleration.
  public static let range = -255...255

  /// The position of the slider for steering, −255…255. Its sign is the direction of motor A.
  public let steering: Int
  /// The position of the slider for acceleration, −255…255. Its sign is the direction of motor B.
  public let acceleration: Int
  /// Whether the headlights are on.
  public var headlights: Bool
  /// Whether the brake lights are on.
  public var brakeLights: Bool

  /// How the receiver finds the frames.
  public enum Receiver: Sendable, Hashable, CaseIterable {
    /// It takes four bytes at a time.
    case window
    /// It splits at colons, so only the last byte of a frame may be a colon.
    ///
    /// Values of ±58 and ±186 are sent as one less in magnitude. The control byte is a colon if both lights are on,
    /// acceleration is −128 or less, and steering is 0 to 127. Then, if steering is 0, its sign is set, which changes
    /// nothing; otherwise the headlights are left out.
    case naive
  }

  /// A frame.
  ///
  /// - Throws: `HM1XFrameError.outOfRange` if steering or acceleration is outside of `range`.
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

  /// Reads the four bytes of a frame. A zero with a sign is read as zero.
  ///
  /// - Throws: `HM1XFrameError.noFrame` if there are not four bytes, or if bits are set that are always clear.
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

  /// The framing: four bytes, of which the last is a colon; the highest bits of the others are clear. After bytes that
  /// are no frame, a frame only counts if another one follows, since a colon may also be among the first three bytes.
  public static var codec: WindowCodec {
    do {
      return try WindowCodec(pattern: pattern, mask: mask)
    } catch {
      preconditionFailure("\(error)")  // pattern and mask are constants within the codec's bounds
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

/// Why a frame can't be made or read.
public enum HM1XFrameError: Error, Sendable, Hashable {
  /// An argument is outside of −255…255.
  case outOfRange(argument: String, value: Int)
  /// The bytes are no frame.
  case noFrame
}

extension HM1XFrameError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value): "\(argument) must be -255 to 255, not \(value)"
    case .noFrame: "the bytes are not a control frame"
    }
  }
}
