// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// What the library reports after each call.

extension MQTTClient {
  /// How long a broker has to answer a PINGREQ.
  private static let pingTime = Duration.seconds(10)

  /// Handles the library's events. Returns false when the connection is over.
  func take(_ open: OpenConnection) -> Bool {
    let events = open.connection.takeEvents()
    guard !events.isEmpty else { return isCurrent(open) }
    if let received = ReceivedBytes.count(open.descriptor) { open.receivedAtEvent = received }
    for event in events {
      handle(event, of: open)
      guard isCurrent(open) else { return false }
    }
    return true
  }

  private func handle(_ event: MosquittoConnection.Event, of open: OpenConnection) {
    switch event {
    case .connected(let code, let keepalive): answered(open, code, keepalive)
    case .disconnected(let code):
      if code == 142 {
        return lost(
          open,
          AccessoryError(.busy, "\(settings.broker): \(rivalry)"))
      }
      lost(open, open.connection.failure(code == 0 ? MQTTLibrary.connectionLost : code, "\(settings.broker)"))
    case .published(let number, let reason):
      let message = open.sent.removeValue(forKey: number)
      if reason >= 128, let message {
        report(.refused(topic: message.topic, MQTTLibrary.refusal(reason, "publishing on \(message.topic)")))
      }
      if number == farewell { leave(open) }
    case .subscribed(let number, let answer):
      guard let filter = open.subscriptions.removeValue(forKey: number) else { return }
      report(
        answer >= 128
          ? .refused(topic: filter, MQTTLibrary.refusal(answer, "subscribing to \(filter)")) : .subscribed(filter))
    case .received(let message):
      // It has answered a message with QoS 1.
      if message.qos == .atLeastOnce { open.lastOutput = io.now }
      report(.message(message))
    case .droppedMessage: break
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

  private func answered(_ open: OpenConnection, _ code: CInt, _ keepalive: Int?) {
    if let deadlineTimer { io.cancel(deadlineTimer) }
    deadlineTimer = nil
    guard code == 0 else {
      let isOfVersion = code == 1 || code == 132
      if isOfVersion, settings.version == nil, version == .v5 {
        version = .v311
        // That isn't a failure: the next try is at once.
        release(open)
        cancelTimers()
        return connect()
      }
      return failed(MQTTLibrary.refusal(ofConnection: code, version, settings.broker))
    }
    versionFailures = 0
    open.isAccepted = true
    if let keepalive { open.keepalive = .seconds(keepalive) }
    report(.connected(version))
  }
}
