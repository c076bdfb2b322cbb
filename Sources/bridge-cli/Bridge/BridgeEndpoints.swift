// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import CommandOutput

/// The endpoints of a bridge, and the task that keeps the device open for them.
actor BridgeEndpoints {
  private let hub: SharingHub
  private let view: BridgeView
  private var all: [any SharingEndpoint] = []
  private var streamsAreAll = false
  private var serving: Task<Void, any Error>?
  private var haveStreamsEnded = false

  /// The longest pause between tries to open the device: some devices come back without an event. A device on the air that leaves
  /// again and again is connected less often.
  private static let longestPause = Duration.seconds(10)

  init(_ hub: SharingHub, _ view: BridgeView) { (self.hub, self.view) = (hub, view) }

  /// Opens an endpoint. Throws what `open` throws.
  func add(_ open: (SharingHub) async throws -> any SharingEndpoint) async throws {
    let endpoint = try await open(hub)
    all.append(endpoint)
    view.listening(endpoint.label)
  }

  func add(terminalAt path: String, mode: UInt16?) async throws {
    let endpoint = try await TerminalEndpoint.open(at: path, mode: mode, for: hub) { [view] error in view.trouble(error)
    }
    all.append(endpoint)
    view.listening(endpoint.label, node: await endpoint.node)
  }

  func add(_ settings: GATTUARTServer.Settings, limit: EndpointLimit) async throws {
    let endpoint = try BluetoothEndpoint(settings, limit: limit, for: hub) { [view] error in view.trouble(error) }
    await endpoint.start()
    all.append(endpoint)
    view.listening(endpoint.label)
  }

  func addStreams(isOnly: Bool) async {
    streamsAreAll = isOnly
    let endpoint = await StandardStreamsEndpoint.open(for: hub) { Task { await self.streamsEnded() } }
    all.append(endpoint)
  }

  private func streamsEnded() {
    haveStreamsEnded = true
    if streamsAreAll { serving?.cancel() }
  }

  /// Opens the device and keeps it shared until the task is cancelled, or until standard input ends and is the only
  /// endpoint. Throws an error of opening that waiting doesn't solve. With `endsOnUnplug`, it also throws the error that
  /// ended the device's transport.
  func serve(_ opening: BridgeOpening, endsOnUnplug: Bool) async throws {
    let (hub, view, streamsAreAll) = (hub, view, streamsAreAll)
    let pauses = ReturnPauses()
    let task = Task {
      let arrivals = await ArrivalWatcher()
      defer { arrivals.end() }
      try await hub.run(
        openShared: {
          let opened = try await opening.open()
          pauses.opened()
          view.opened(opened.name, opened.document, advice: opened.advice)
          return opened.device
        },
        retry: { error in
          let wasOpen = pauses.ended()
          await opening.recorder?.unplugged()
          if wasOpen, endsOnUnplug || streamsAreAll && hub.rules.unplug == .hangUp { throw error }
          if endsOnUnplug || !BridgeOpening.mayPass(error) { throw error }
          if !wasOpen { view.waiting(error) }
          let pause = pauses.next()
          // What leaves again and again isn't connected sooner because something else has come.
          let leaves = opening.isOnTheAir && (error as? AccessoryError)?.kind == .disconnected
          if leaves { return await IOThread.shared.sleep(for: pause) }
          if await arrivals.next(within: min(pause, Self.longestPause)) { pauses.reset() }
        })
    }
    serving = task
    if haveStreamsEnded && streamsAreAll { task.cancel() }
    try await withTaskCancellationHandler {
      do {
        try await task.value
      } catch is CancellationError {
      }
    } onCancel: {
      task.cancel()
    }
  }

  func close() async {
    for endpoint in all { await endpoint.close() }
    all = []
  }
}
