// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink

/// The exchange that a brick on the network requires before it accepts commands (see c_wifi.c in the EV3's firmware).
enum EV3Greeting {
  /// The serial number is left out: the brick doesn't check it.
  static let request = "GET /target?sn=\r\nProtocol:EV3\r\n\r\n"
  static let reply = "Accept:EV340\r\n\r\n"
  static let replyTimeout = Duration.seconds(5)

  /// Sends the greeting and waits for the reply. Throws `timedOut`, `badData`, `disconnected`, `cancelled`.
  static func exchange(over session: AccessorySession, clock: any TimerClock) async throws(AccessoryError) {
    try await session.write(request.utf8)
    let isLate = Locked(false)
    let token = clock.schedule(at: clock.now + replyTimeout) {
      isLate.withLock { $0 = true }
      session.transport.beginClose()
    }
    defer { clock.cancel(token) }
    var answer: [UInt8] = []
    var pieces = session.input.makeAsyncIterator()
    while answer.count < reply.utf8.count, let piece = try await pieces.next() { answer += piece }
    if answer.elementsEqual(reply.utf8) { return }
    if Task.isCancelled { throw AccessoryError(.cancelled, "opening \(session.label) was cancelled") }
    if answer.count < reply.utf8.count {
      if isLate.withLock({ $0 }) {
        throw AccessoryError(.timedOut, "\(session.label) does not answer the greeting: is it an EV3?")
      }
      throw .disconnected(session.label)
    }
    throw AccessoryError(.badData, "\(session.label) sent an invalid reply to the greeting: is it an EV3?")
  }
}
