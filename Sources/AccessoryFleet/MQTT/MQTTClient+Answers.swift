// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// Handles what the library reports after each call.

extension MQTTClient {
  /// How long the broker has to answer a PINGREQ.
  private static let pingTime = Duration.seconds(10)

  /// Handles the library's events. Returns false when the connection is over.
  func take(_ open: OpenConnection) -> Bool {
    let events = open.connection.takeEvents()
    guard !events.isEmpty else { return isCurrent(open) }
    open.receivedAtEvent = open.socket.received
    for event in events {
      handle(event, of: open)
      guard isCurrent(open) else { return false }
    }
    return true
  }

  private func handle(_ event: MosquittoConnection.Event, of open: OpenConnection) {
    switch event {
    case .connected(let code): answered(open, code)
    case .disconnected(let code):
      lost(open, open.connection.failure(code == 0 ? MQTTLibrary.connectionLost : code, "\(settings.broker)"))
    case .published(let number):
      if open.sent.removeValue(forKey: number) != nil { open.useless = 0 }
      if number == farewell { leave(open) }
    case .subscribed(let number, let answer):
      guard let filter = open.subscriptions.removeValue(forKey: number) else { return }
      open.useless = 0
      report(
        answer >= 128
          ? .refused(topic: filter, MQTTLibrary.refusal("subscribing to \(filter)")) : .subscribed(filter))
    case .received(let message):
      open.useless = 0
      // The library has just sent the acknowledgement (PUBACK).
      if message.qos == .atLeastOnce { open.lastOutput = io.now }
      report(.message(message))
    case .droppedMessage: open.useless = 0
    case .unwantedMessage: lost(open, wrong("sent a message with QoS 2, which was not requested"))
    case .sentPing:
      open.lastOutput = io.now
      pingTimer =
        pingTimer
        ?? schedule(in: Self.pingTime) { client in
          client.pingTimer = nil
          guard case .open(let open) = client.state else { return }
          client.lost(open, AccessoryError(.disconnected, "\(client.settings.broker) no longer answers"))
        }
    }
  }

  private func answered(_ open: OpenConnection, _ code: CInt) {
    // The broker sends CONNACK only once (MQTT 3.1.1, 3.2).
    guard !open.isAccepted else { return lost(open, wrong("accepted the connection a second time")) }
    if let deadlineTimer { io.cancel(deadlineTimer) }
    deadlineTimer = nil
    guard code == 0 else { return failed(MQTTLibrary.refusal(ofConnection: code, settings.broker)) }
    open.isAccepted = true
    open.useless = 0
    report(.connected)
  }

  /// The error for a broker that violates the protocol.
  func wrong(_ what: String) -> AccessoryError { AccessoryError(.badData, "the broker \(settings.broker) \(what)") }
}
