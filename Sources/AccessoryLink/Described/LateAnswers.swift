// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Keeps track of late answers: to requests that were given up, or repeated before they were answered.
///
/// Modbus on a serial line doesn't say which request is answered, only by which unit and for which function; other
/// protocols say the unit at most. So while a late answer may come, no other request to that unit and function is sent,
/// because it would take the late answer for its own. The same request may be sent, since the late answer also answers
/// it.
struct LateAnswers: Sendable {
  private struct Expected: Sendable {
    /// What was sent.
    var request: [UInt8]
    /// The request's place in the description.
    var index: Int
    /// How many answers may come.
    var count: Int
    /// When none comes any more.
    var end: MonotonicTime
  }

  /// The places of requests whose answers identify them; nothing is kept for these.
  private let told: Set<Int>
  private let isModbus: Bool
  /// By unit and function of Modbus, which the first two bytes are, or by the unit.
  private var expected: [UInt16: Expected] = [:]

  init(_ description: ProtocolDescription, wire: ModbusWire) {
    isModbus = description.modbus != nil
    told = Set(
      description.requests.indices.filter { index in
        let request = description.requests[index]
        // By Modbus TCP answers have numbers.
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

  /// A request is over. What it was sent for more often than it was answered may still come; of one that nobody
  /// answered, as long again as its last answer was waited for.
  mutating func note(
    _ done: DescribedExchange.Attempt, _ result: Result<DecodedMessage?, AccessoryError>, now: MonotonicTime,
    patience: Duration
  ) {
    let isTimedOut = if case .failure(let error) = result { error.kind == .timedOut } else { false }
    // The last repeat may be answered as late as the first try was.
    let latest = max(done.deadline, done.sent.upperBound + (now - done.sent.lowerBound) + patience / 2)
    note(
      done.request, sent: done.tries - done.refusals - (isTimedOut ? 0 : 1),
      until: isTimedOut ? now + patience : latest, now: now)
  }

  /// A request is over that was sent so many times more than it was answered; answers may come until then.
  mutating func note(_ request: DescribedRequest, sent count: Int, until end: MonotonicTime, now: MonotonicTime) {
    guard let key = key(request) else { return }
    var count = count
    let earlier = expected.removeValue(forKey: key)
    if let earlier, earlier.request == request.bytes, earlier.end > now { count += earlier.count }
    guard count > 0 else { return }
    // Old entries are removed. There can be 65,536 at most: a key is a unit and a function, of a byte each.
    expected = expected.filter { $0.value.end > now }
    expected[key] = Expected(request: request.bytes, index: request.index, count: count, end: end)
  }

  /// The place of the request to this unit that may still be answered, where answers don't say their function.
  func request(unit: Int?) -> Int? { expected[UInt16(truncatingIfNeeded: unit ?? 0)]?.index }

  /// That has been answered.
  mutating func take(unit: Int?) { take(UInt16(truncatingIfNeeded: unit ?? 0)) }

  /// Call this when an unexpected frame of this unit and function has arrived.
  mutating func take(unit: UInt8, function: UInt8) {
    // An exception has the highest bit of its function set.
    take(UInt16(unit) << 8 | UInt16(function & ~Modbus.exceptionBit))
  }

  private mutating func take(_ key: UInt16) {
    guard var late = expected.removeValue(forKey: key) else { return }
    late.count -= 1
    if late.count > 0 { expected[key] = late }
  }

  private func key(_ request: DescribedRequest) -> UInt16? {
    if told.contains(request.index) { return nil }
    guard isModbus else { return UInt16(truncatingIfNeeded: request.unit ?? 0) }
    return request.bytes.count > 1 ? UInt16(request.bytes[0]) << 8 | UInt16(request.bytes[1]) : nil
  }
}
