// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// What a brick wants to hear, and says, before it takes commands over the network (its c_wifi.c).
enum EV3Greeting {
  /// The serial number may be left out: the brick doesn't look at it.
  static let request = "GET /target?sn=\r\nProtocol:EV3\r\n\r\n"
  static let reply = "Accept:EV340\r\n\r\n"
  static let patience = Duration.seconds(5)

  /// Greets. Throws `timedOut`, `badData`, `disconnected`.
  static func exchange(over session: AccessorySession, clock: any TimerClock) async throws(AccessoryError) {
    try await session.write(request.utf8)
    let isLate = Locked(false)
    let token = clock.schedule(at: clock.now + patience) {
      isLate.withLock { $0 = true }
      session.transport.beginClose()
    }
    defer { clock.cancel(token) }
    var answer: [UInt8] = []
    var pieces = session.input.makeAsyncIterator()
    while answer.count < reply.utf8.count, let piece = try await pieces.next() { answer += piece }
    if answer.elementsEqual(reply.utf8) { return }
    if Task.isCancelled { throw AccessoryError(.cancelled, "the greeting of \(session.label) was cancelled") }
    if answer.count < reply.utf8.count {
      if isLate.withLock({ $0 }) {
        throw AccessoryError(.timedOut, "\(session.label) does not answer the greeting: is it an EV3?")
      }
      throw .disconnected(session.label)
    }
    throw AccessoryError(.badData, "\(session.label) answers the greeting with something else: is it an EV3?")
  }
}
