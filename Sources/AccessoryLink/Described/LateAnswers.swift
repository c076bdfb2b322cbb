// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

/// Keeps track of late replies: to requests that have timed out or were cancelled, or were repeated before they were
/// answered.
///
/// A reply of Modbus on a serial line doesn't identify its request, only the unit and the function; replies of other
/// protocols name the unit at most. So while a late reply may come, no other request to that unit and function is sent,
/// because it would take the late reply for its own. The same request may be sent, since the late reply also answers
/// it.
struct LateAnswers: Sendable {
  private struct Expected: Sendable {
    /// The bytes of the request.
    var request: [UInt8]
    /// The request's index in the description.
    var index: Int
    /// How many replies may still come.
    var count: Int
    /// When no reply is expected any more.
    var end: MonotonicTime
  }

  /// The indices of requests whose replies identify them; nothing is recorded for these.
  private let identifiedByReply: Set<Int>
  private let isModbus: Bool
  /// By the unit and the function of Modbus, which are the first two bytes, or by the unit.
  private var expected: [UInt16: Expected] = [:]

  init(_ description: ProtocolDescription, wire: ModbusWire) {
    isModbus = description.modbus != nil
    identifiedByReply = Set(
      description.requests.indices.filter { index in
        let request = description.requests[index]
        // Modbus TCP numbers its replies.
        if description.modbus != nil { return wire == .network }
        return request.reply == nil || !request.echoes.isEmpty
      })
  }

  /// The time until which a request must wait; nil when it needn't wait.
  func end(before request: DescribedRequest) -> MonotonicTime? {
    guard let key = key(request), let expected = expected[key],
      expected.request != request.bytes
    else { return nil }
    return expected.end
  }

  /// Records a request that is over. For each time that it was sent and not answered, a reply may still come. After a
  /// timeout, that reply is expected for as long as the timeout was.
  mutating func note(
    _ done: DescribedExchange.Attempt, _ result: Result<DecodedMessage?, AccessoryError>, now: MonotonicTime,
    replyTimeout: Duration
  ) {
    let isTimedOut = if case .failure(let error) = result { error.kind == .timedOut } else { false }
    // The last repeat may be answered as late as the first try was.
    let latest = max(done.deadline, done.sent.upperBound + (now - done.sent.lowerBound) + replyTimeout / 2)
    note(
      done.request, sent: done.tries - done.refusals - (isTimedOut ? 0 : 1),
      until: isTimedOut ? now + replyTimeout : latest, now: now)
  }

  /// Records a request that was sent `count` times more often than it was answered; replies may come until `end`.
  mutating func note(_ request: DescribedRequest, sent count: Int, until end: MonotonicTime, now: MonotonicTime) {
    guard let key = key(request) else { return }
    var count = count
    let earlier = expected.removeValue(forKey: key)
    if let earlier, earlier.request == request.bytes, earlier.end > now { count += earlier.count }
    guard count > 0 else { return }
    // Old entries are removed. There can be 65,536 at most: a key is a unit and a function, of one byte each.
    expected = expected.filter { $0.value.end > now }
    expected[key] = Expected(request: request.bytes, index: request.index, count: count, end: end)
  }

  /// The index of the request to this unit that may still be answered, for replies that don't contain their function.
  func request(unit: Int?) -> Int? { expected[UInt16(truncatingIfNeeded: unit ?? 0)]?.index }

  /// Call this when a late reply of this unit has arrived.
  mutating func take(unit: Int?) { take(UInt16(truncatingIfNeeded: unit ?? 0)) }

  /// Call this when an unexpected frame of this unit and function has arrived.
  mutating func take(unit: UInt8, function: UInt8) {
    // An exception reply sets the highest bit of the function.
    take(UInt16(unit) << 8 | UInt16(function & ~Modbus.exceptionBit))
  }

  private mutating func take(_ key: UInt16) {
    guard var late = expected.removeValue(forKey: key) else { return }
    late.count -= 1
    if late.count > 0 { expected[key] = late }
  }

  private func key(_ request: DescribedRequest) -> UInt16? {
    if identifiedByReply.contains(request.index) { return nil }
    guard isModbus else { return UInt16(truncatingIfNeeded: request.unit ?? 0) }
    return request.bytes.count > 1 ? UInt16(request.bytes[0]) << 8 | UInt16(request.bytes[1]) : nil
  }
}
