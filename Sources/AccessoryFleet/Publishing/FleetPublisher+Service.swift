// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// Turns changes of the mirror into records and marks what to publish.

extension FleetPublisher {
  /// How long the service may be unavailable, for example during a restart, before its accessories are published as offline.
  private static let grace = Duration.seconds(3)
  /// How long the service has to answer a command.
  private static let replyTimeout = Duration.seconds(20)

  /// Handles an event of the mirror, after the mirror's pending changes.
  func take(_ event: MirrorEvent, isNews: Bool, _ changes: MirrorChanges) async {
    switch event {
    case .begun(let client):
      work.losing?.cancel()
      records.begin()
      // Use a connection of its own, so that lists don't wait behind commands, which may take long.
      service = try? await BridgeClient.connect(to: client.socketPath, replyTimeout: Self.replyTimeout)
      log.notice("following the service at \(client.socketPath)")
    case .ended(let error):
      service?.close()
      service = nil
      serviceLost(error)
    // What has been read comes with the mirror's changes.
    case .read: break
    case .event(.ready):
      records.synchronize()
      await pull(changes)
      records.leave(AccessoryError(.disconnected, "the service no longer has it"), all: false, at: Self.now)
      scheduleForgetting()
      await lookIsDone()
    case .event(let event):
      await pull(changes)
      if case .alarm(let device, let alarm, let state) = event {
        records.take(alarm, state, of: device, at: Self.now)
        flushSoon()
      }
      if isNews { tell(event) }
      if case .disconnected = event { scheduleForgetting() }
    }
  }

  /// Takes the mirror's pending changes. Calls run one after another, so that changes stay in order.
  func pull(_ changes: MirrorChanges) async {
    while let pulling = work.pulling { await pulling.value }
    let task = Task {
      // Clear this before the task ends. A caller that waits for the task might otherwise continue first and still find it set.
      defer { work.pulling = nil }
      let change = await changes.take()
      records.take(change, at: Self.now, mirrorTime: clock.now)
      flushSoon()
    }
    work.pulling = task
    await task.value
  }

  private func serviceLost(_ error: AccessoryError) {
    records.end()
    guard work.losing == nil || work.losing?.isCancelled == true else { return }
    work.losing = Task { [clock] in
      await clock.sleep(for: Self.grace)
      guard !Task.isCancelled else { return }
      records.leave(error, all: true, at: Self.now)
      // The service isn't reachable, so nothing is known about the accessories that the broker retains.
      await lookIsDone()
    }
  }

  /// Publishes an event by itself, besides the state.
  private func tell(_ event: BridgeEvent) {
    // Events aren't queued while offline.
    guard broker.isConnected, let told = Bridge.Event(event, at: Self.now), let device = told.device else { return }
    // An alarm that was raised before this process knew the service isn't an event, either.
    if case .alarm = event, !records.isSynchronized { return }
    guard let document = FleetEvent(told) else { return }
    let message = MQTTMessage(topics.event(of: records.level(of: device)), document.bytes, qos: .atMostOnce)
    Task { [mqtt] in await mqtt.publish(message) }
  }
}

extension Bridge.Event {
  /// Converts an event for the fleet's documents; nil for what existed before, and for what is not attached yet.
  fileprivate init?(_ event: BridgeEvent, at time: Double) {
    switch event {
    case .ready, .present, .found, .changed: return nil
    case .connected(let device): self.init(.connected, time: time, device: device)
    case .disconnected(let device, let error):
      self.init(.disconnected, time: time, device: device, problem: Bridge.Problem(error))
    case .battery(let device, let reading, _):
      self.init(.battery, time: time, device: device, battery: reading)
    case .status(let device, let status, _): self.init(.status, time: time, device: device, status: status)
    case .values(let device, let values, _):
      self.init(.values, time: time, device: device, values: values.map { Read($0) })
    case .requestFailed(let device, let error):
      self.init(.requestFailed, time: time, device: device, problem: Bridge.Problem(error))
    case .alarm(let device, let alarm, let state):
      self.init(.alarm, time: time, device: device, alarm: alarm, state: state)
    }
  }
}
