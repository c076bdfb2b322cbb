// SPDX-License-Identifier: Apache-2.0

/// Faults that a simulator produces.
public struct Faults: Sendable, Hashable {
  /// When a fault happens.
  public enum Moment: Sendable, Hashable {
    /// This long after the accessory was plugged in.
    case after(Duration)
    /// When request number n arrives, counted from 1. HELLO isn't counted.
    case request(Int)
  }

  /// The share of the accessory's frames that are dropped, 0…1. The default is 0.
  public var drop = 0.0
  /// The share of the accessory's frames in which one bit is flipped, 0…1. The default is 0.
  public var corrupt = 0.0
  /// The share of the host's frames that are dropped, 0…1. The default is 0.
  public var dropRequests = 0.0
  /// The share of the host's frames in which one bit is flipped, 0…1. The default is 0.
  public var corruptRequests = 0.0
  /// How long each reply is delayed. The default is zero.
  public var delay = Duration.zero
  /// When the accessory is unplugged. At a request, this happens after half of the reply was sent.
  public var unplug: Moment?
  /// The time until the accessory is plugged in again; nil means never.
  public var replug: Duration?
  /// When the accessory restarts. At a request, this happens after the request was run, without a reply.
  public var reboot: Moment?
  /// The request at which a USB device halts its IN endpoint, until the host clears it. The reply is lost.
  public var stall: Int?
  /// The request whose reply is lost on the USB bus: the transfer fails with a protocol error.
  public var protocolError: Int?

  /// No faults.
  public init() {}

  /// Whether some faults are random.
  public var isRandom: Bool { drop + corrupt + dropRequests + corruptRequests > 0 }

  /// The faults for the host's frames, as those of a `FaultyLine`.
  package var ofRequests: Faults {
    var faults = Faults()
    (faults.drop, faults.corrupt) = (dropRequests, corruptRequests)
    return faults
  }
}

/// A line that drops and corrupts frames. The same seed has the same effect on the same frames.
package struct FaultyLine: Sendable {
  package let faults: Faults
  package var random: SeededGenerator

  package init(faults: Faults, random: SeededGenerator) { (self.faults, self.random) = (faults, random) }

  /// The frame as it arrives; nil when it is dropped.
  package mutating func pass(_ frame: [UInt8]) -> [UInt8]? {
    // Always three random numbers, so that changing one fault's share doesn't change when another happens.
    let (dropDraw, corruptDraw, place) = (draw(), draw(), random.next())
    if dropDraw < faults.drop { return nil }
    guard corruptDraw < faults.corrupt, !frame.isEmpty else { return frame }
    var damaged = frame
    damaged[Int(place % UInt64(frame.count))] ^= 1 << UInt8((place >> 32) % 8)
    return damaged
  }

  private mutating func draw() -> Double { Double(random.next() >> 11) * 0x1p-53 }
}
