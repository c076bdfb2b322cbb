// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryFleet

@Suite struct InboxTests {
  private func message(_ size: Int) -> MQTTEvent { .message(MQTTMessage("t", Array(repeating: 0, count: size))) }

  /// Events come out in their order, and the inbox is full by its bytes.
  @Test func theInboxKeepsOrderAndHasALimit() {
    var inbox = MQTTInbox()
    inbox.add(.connected)
    for _ in 0..<4 { inbox.add(message(256 << 10)) }
    #expect(inbox.isFull)
    guard case .connected = inbox.next() else { return #expect(Bool(false), "the first event comes first") }
    _ = inbox.next()
    #expect(!inbox.isFull)
    for _ in 0..<3 { _ = inbox.next() }
    #expect(inbox.isEmpty && inbox.next() == nil)
  }

  /// However often a connection comes and goes, the owner has one event of that to read.
  @Test func connectionsDoNotPileUp() {
    var inbox = MQTTInbox()
    inbox.add(message(1))
    for _ in 0..<100 {
      inbox.add(.connected)
      inbox.add(.keepalive)
      inbox.add(.disconnected(AccessoryError(.disconnected, "gone"), retry: .seconds(1)))
    }
    var events: [MQTTEvent] = []
    while let event = inbox.next() { events.append(event) }
    #expect(events.count == 2)
    guard case .disconnected = events.last else { return #expect(Bool(false), "the last event is the end") }
  }
}
