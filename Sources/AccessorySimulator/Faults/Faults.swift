// SPDX-License-Identifier: Apache-2.0

/// What goes wrong on purpose.
public struct Faults: Sendable, Hashable {
  /// When something happens once.
  public enum Moment: Sendable, Hashable {
    /// So long after the accessory was plugged in.
    case after(Duration)
    /// At the arrival of request number n, counted from 1; HELLO doesn't count.
    case request(Int)
  }

  /// Share of the accessory's frames that never leave it, 0…1. The default is 0.0.
  public var drop = 0.0
  /// Share of the accessory's frames of which one bit is changed, 0…1. The default is 0.0.
  public var corrupt = 0.0
  /// Share of the host's frames that never arrive, 0…1. The default is 0.0.
  public var dropRequests = 0.0
  /// Share of the host's frames of which one bit is changed, 0…1. The default is 0.0.
  public var corruptRequests = 0.0
  /// Time that every answer takes longer. The default is zero.
  public var delay = Duration.zero
  /// When the cable is pulled. At a request: after half of its answer.
  public var unplug: Moment?
  /// After how long the accessory is plugged in again; nil for never.
  public var replug: Duration?
  /// When the accessory restarts. At a request: after running it, before answering.
  public var reboot: Moment?
  /// The request that a USB device answers with a halted endpoint, until the host clears it; its answer is lost.
  public var stall: Int?
  /// The request whose answer is lost on a USB device's bus: the transfer fails.
  public var protocolError: Int?

  /// Nothing goes wrong.
  public init() {}

  /// Whether chance decides what goes wrong.
  public var isRandom: Bool { drop + corrupt + dropRequests + corruptRequests > 0 }

  /// What happens to the host's frames, as if they were the accessory's.
  var ofRequests: Faults {
    var faults = Faults()
    (faults.drop, faults.corrupt) = (dropRequests, corruptRequests)
    return faults
  }
}

/// What becomes of a frame on a faulty line. The same seed gives the same fate to the same frames.
struct FaultyLine: Sendable {
  let faults: Faults
  var random: SeededGenerator

  /// The frame as it leaves; nil when it is lost.
  mutating func pass(_ frame: [UInt8]) -> [UInt8]? {
    // Always three draws, so that one rate doesn't change what another does.
    let (dropDraw, corruptDraw, place) = (draw(), draw(), random.next())
    if dropDraw < faults.drop { return nil }
    guard corruptDraw < faults.corrupt, !frame.isEmpty else { return frame }
    var damaged = frame
    damaged[Int(place % UInt64(frame.count))] ^= 1 << UInt8((place >> 32) % 8)
    return damaged
  }

  private mutating func draw() -> Double { Double(random.next() >> 11) * 0x1p-53 }
}
