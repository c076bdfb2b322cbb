// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery

/// The service's life: its status, the tasks that it waits for, and its end when it is idle. Used on the service's actor only.
final class ServiceLife {
  /// Whether the service ends.
  private(set) var isClosing = false
  private var idleTimer: TimerToken?
  private var lastStatus = ""
  private var statusIsDue = false
  /// The tasks that open or close devices, and others that the service waits for before it ends.
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var nextTask = 0

  /// Runs a task that the service waits for before it ends.
  @discardableResult
  func run(on service: isolated BridgeService, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    nextTask += 1
    let key = nextTask
    let task = Task {
      await body()
      ended(key, on: service)
    }
    tasks[key] = task
    return task
  }

  private func ended(_ key: Int, on service: isolated BridgeService) { tasks[key] = nil }

  /// Starts the end of the service. Returns false if it had already started.
  func beginEnd(on service: isolated BridgeService) -> Bool {
    guard !isClosing else { return false }
    isClosing = true
    if let idleTimer { service.clock.cancel(idleTimer) }
    return true
  }

  /// Returns when no task is left.
  func finishTasks(on service: isolated BridgeService) async {
    while let task = tasks.first?.value {
      await task.value
    }
  }

  // MARK: - Nothing to do

  /// Reports the status, and starts or stops the idle timer.
  func check(on service: isolated BridgeService) {
    // Do this once for a series of changes.
    if !statusIsDue {
      statusIsDue = true
      service.post { $0.life.tellStatus(on: $0) }
    }
    guard let exitIdle = service.configuration.exitIdle else { return }
    if !isIdle(on: service) || isClosing {
      if let idleTimer { service.clock.cancel(idleTimer) }
      idleTimer = nil
    } else if idleTimer == nil {
      idleTimer = service.clock.schedule(at: service.clock.now + exitIdle) { [weak service] in
        service?.post { $0.life.endWhenIdle(on: $0) }
      }
    }
  }

  private func isIdle(on service: isolated BridgeService) -> Bool {
    service.clients.count == 0 && service.attachments.holdingCount == 0 && !service.alarms.awaitsSilence
      && !service.endpoints.areHeard() && !service.awaitsTheAir
  }

  /// Whether the service has work, including devices that the sources haven't reported yet.
  func hasWork(on service: isolated BridgeService) async -> Bool {
    for source in service.found.sources {
      let devices = (try? await source.devices()) ?? []
      let isNews = devices.contains { device in
        service.mayAttach(device, service.profiles.profile(for: device))
          && !service.found.contains(device.lineIdentity, at: device.address)
      }
      if isNews { return true }
    }
    return !isIdle(on: service)
  }

  private func endWhenIdle(on service: isolated BridgeService) {
    guard idleTimer != nil, !isClosing, let exitIdle = service.configuration.exitIdle else { return }
    service.log.notice("nothing attached and no client for \(BridgeService.text(exitIdle)): ending")
    service.context.idle.continuation.finish()
  }

  private func tellStatus(on service: isolated BridgeService) {
    statusIsDue = false
    let parts = Bridge.AttachmentState.allCases.compactMap { state in
      let count = service.attachments.count(state)
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let status = parts.isEmpty ? "no accessory" : parts.joined(separator: ", ")
    guard status != lastStatus else { return }
    lastStatus = status
    service.context.hooks.onStatus(status)
  }
}
