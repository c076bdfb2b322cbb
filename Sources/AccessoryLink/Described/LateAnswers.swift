// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Answers that may still come to requests that were given up, or were sent again before they were answered.
///
/// Modbus on a serial line doesn't say which request is answered, only by which unit and for which function. So while such
/// an answer may come, no other request of that unit and function is sent: the answer would be taken for its own. The same
/// request may be sent, since what answers the one answers the other.
struct LateAnswers: Sendable {
  private struct Expected: Sendable {
    /// What was sent.
    var request: [UInt8]
    /// How many answers may come.
    var count: Int
    /// When none comes any more.
    var end: MonotonicTime
  }

  /// Whether answers say what they answer, or come in an order that nothing but their requests' can be: then nothing is
  /// noted here.
  var areTold = true
  /// By unit and function, which the first two bytes are.
  private var expected: [UInt16: Expected] = [:]

  /// Until when a request must wait; nil when it needn't.
  func end(before request: DescribedRequest) -> MonotonicTime? {
    guard !areTold, let key = Self.key(request.bytes), let expected = expected[key],
      expected.request != request.bytes
    else { return nil }
    return expected.end
  }

  /// A request is over. What it was sent for more often than it was answered may still come, as late as its last answer was
  /// waited for; of one that nobody answered, as long again.
  mutating func note(
    _ done: DescribedExchange.Attempt, _ result: Result<DecodedMessage?, AccessoryError>, now: MonotonicTime,
    patience: Duration
  ) {
    let isTimedOut = if case .failure(let error) = result { error.kind == .timedOut } else { false }
    note(
      done.request, sent: done.tries - (isTimedOut ? 0 : 1), until: isTimedOut ? now + patience : done.deadline,
      now: now)
  }

  /// A request is over that was sent so many times more than it was answered; answers may come until then.
  mutating func note(_ request: DescribedRequest, sent count: Int, until end: MonotonicTime, now: MonotonicTime) {
    guard !areTold, let key = Self.key(request.bytes) else { return }
    var count = count
    let earlier = expected.removeValue(forKey: key)
    if let earlier, earlier.request == request.bytes, earlier.end > now { count += earlier.count }
    guard count > 0 else { return }
    // There are as many units and functions as bytes can name; those that were long ago are forgotten.
    expected = expected.filter { $0.value.end > now }
    expected[key] = Expected(request: request.bytes, count: count, end: end)
  }

  /// A frame of this unit and function has come that nobody waits for.
  mutating func take(unit: UInt8, function: UInt8) {
    // An exception has the highest bit of its function set.
    let key = UInt16(unit) << 8 | UInt16(function & ~Modbus.exceptionBit)
    guard !areTold, var late = expected.removeValue(forKey: key) else { return }
    late.count -= 1
    if late.count > 0 { expected[key] = late }
  }

  private static func key(_ frame: [UInt8]) -> UInt16? {
    frame.count > 1 ? UInt16(frame[0]) << 8 | UInt16(frame[1]) : nil
  }
}
