// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessorySharing
import CommandOutput

/// The endpoints of a bridge, and the device between them.
actor BridgeEndpoints {
  private let hub: SharingHub
  private let view: BridgeView
  private var all: [any SharingEndpoint] = []
  private var streamsAreAll = false
  private var serving: Task<Void, any Error>?
  private var haveStreamsEnded = false

  /// The pause between tries where nothing tells that the accessory is back.
  private static let pause = Duration.seconds(1)

  init(_ hub: SharingHub, _ view: BridgeView) { (self.hub, self.view) = (hub, view) }

  /// Opens an endpoint. Throws what that throws.
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

  func addStreams(isOnly: Bool) async {
    streamsAreAll = isOnly
    let endpoint = await StandardStreamsEndpoint.open(for: hub) { Task { await self.streamsEnded() } }
    all.append(endpoint)
  }

  private func streamsEnded() {
    haveStreamsEnded = true
    if streamsAreAll { serving?.cancel() }
  }

  /// Opens the device and keeps it shared, until the task is cancelled or the streams that are all have ended. Throws what
  /// opening it throws where waiting is no use, and, with `endsOnUnplug`, the error with which it went.
  func serve(_ opening: BridgeOpening, endsOnUnplug: Bool) async throws {
    let (hub, view, streamsAreAll) = (hub, view, streamsAreAll)
    let isOpen = Switch()
    let task = Task {
      let arrivals = await ArrivalWatcher()
      defer { arrivals.end() }
      try await hub.run {
        let (transport, name, device) = try await opening.open()
        isOpen.set(true)
        view.opened(name, device)
        return transport
      } retry: { error in
        let wasOpen = isOpen.set(false)
        if wasOpen, endsOnUnplug || streamsAreAll && hub.rules.unplug == .hangUp { throw error }
        if endsOnUnplug || !BridgeOpening.mayPass(error) { throw error }
        if !wasOpen { view.waiting(error) }
        await arrivals.next(within: Self.pause)
      }
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

/// A truth that one task sets.
private final class Switch: Sendable {
  private let state = Locked(false)

  /// Returns what it was before.
  @discardableResult
  func set(_ value: Bool) -> Bool {
    state.withLock { state in
      defer { state = value }
      return state
    }
  }
}
