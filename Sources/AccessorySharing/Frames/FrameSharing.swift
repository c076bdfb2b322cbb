// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import DequeModule

/// A hub's state for sharing one opened device by frames. Used only in the hub's isolation.
///
/// The router knows clients by numbers. A number is never used again, not even when the next program opens the same terminal, so results
/// for a client that is gone reach nobody else.
struct FrameSharing {
  private struct Client {
    var id: HubClient.ID
    /// The number of bytes that were posted to the router and aren't decoded.
    var inFlight = 0
  }

  /// While this many bytes of a client are in the router, the client isn't read.
  static let clientLimit = 16_384
  /// While this many bytes of the device are in the router, the device isn't read.
  static let deviceLimit = 65_536

  let router: FrameRouter
  /// Messages for which the device's queue had no room.
  var pending: Deque<[UInt8]> = []
  var timer: (deadline: MonotonicTime, token: TimerToken)?
  /// Whether the timer has fired while the device wasn't read. The time counts from when it is read again, because a reply that has
  /// arrived isn't late.
  var isTimeDue = false
  /// The rules' counts, up to the results that were carried out last.
  var statistics = RoutingStatistics()
  /// For clients that send no more: the time since when, while the router is asked whether they wait for a reply.
  var asked: [HubClient.ID: MonotonicTime] = [:]
  /// How the device has ended; nil while it hasn't. The router still handles the bytes from before the end.
  var end: AccessoryError??

  private var clients: [Int: Client] = [:]
  private var numbers: [HubClient.ID: Int] = [:]
  private var lastNumber = 0
  private var deviceInFlight = 0
  private var timing: LineTiming?

  init(_ router: FrameRouter) { self.router = router }

  // MARK: - Clients

  /// Gives a client a new number.
  mutating func add(_ id: HubClient.ID) -> Int {
    lastNumber += 1
    numbers[id] = lastNumber
    clients[lastNumber] = Client(id: id)
    return lastNumber
  }

  /// Forgets a client's number, and returns it.
  mutating func remove(_ id: HubClient.ID) -> Int? {
    asked[id] = nil
    guard let number = numbers.removeValue(forKey: id) else { return nil }
    clients[number] = nil
    return number
  }

  func number(of id: HubClient.ID) -> Int? { numbers[id] }

  /// The client with this number; nil if it is gone.
  func client(_ number: Int) -> HubClient.ID? { clients[number]?.id }

  // MARK: - Bytes in the router

  /// Takes note that bytes of a client are in the router. Returns whether more of its bytes may follow.
  mutating func posted(_ count: Int, from number: Int) -> Bool {
    clients[number]?.inFlight += count
    return mayTake(from: number)
  }

  mutating func decoded(_ count: Int, from number: Int) { clients[number]?.inFlight -= count }

  func mayTake(from number: Int) -> Bool { (clients[number]?.inFlight ?? 0) < Self.clientLimit }

  mutating func postedOfDevice(_ count: Int) { deviceInFlight += count }

  mutating func decodedOfDevice(_ count: Int) { deviceInFlight -= count }

  /// Whether the device may be read.
  var mayTakeFromDevice: Bool { end == nil && deviceInFlight < Self.deviceLimit }

  /// Returns whether `timing` differs from the timing before. A client may have changed the line's speed.
  mutating func follow(_ timing: LineTiming) -> Bool {
    defer { self.timing = timing }
    return timing != self.timing
  }
}
