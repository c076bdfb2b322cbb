// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// What the service has to do: its status, and its end when it has nothing to do.

extension BridgeService {
  /// Sets the number of clients.
  package nonisolated func noteClients(_ count: Int) {
    post { service in
      service.clientCount = count
      service.checkIdle()
    }
  }

  /// Starts or stops the idle timer.
  func checkIdle() {
    // Done once for a series of changes, since it counts all accessories.
    if !statusIsDue {
      statusIsDue = true
      post { service in
        service.statusIsDue = false
        service.tellStatus()
      }
    }
    guard let exitIdle = configuration.exitIdle else { return }
    if !isIdle || isClosing {
      if let idleTimer { clock.cancel(idleTimer) }
      idleTimer = nil
    } else if idleTimer == nil {
      idleTimer = clock.schedule(at: clock.now + exitIdle) { [weak self] in self?.post { $0.endWhenIdle() } }
    }
  }

  private var isIdle: Bool {
    clientCount == 0 && attachments.holdingCount == 0 && !alarms.awaitsSilence
      && !endpoints.areHeard()
  }

  /// Whether the service has work, including devices that the sources haven't reported yet; asked before the service
  /// ends.
  package func hasWork() async -> Bool {
    for source in found.sources {
      let devices = (try? await source.devices()) ?? []
      if devices.contains(where: isNews) { return true }
    }
    return !isIdle
  }

  private func isNews(_ device: Device) -> Bool {
    profiles.profile(for: device) != nil && !found.contains(id: device.id, at: device.address)
  }

  private func endWhenIdle() {
    guard idleTimer != nil, !isClosing else { return }
    log.notice("nothing attached and no client for \(Self.text(configuration.exitIdle ?? .zero)): ending")
    idleContinuation.finish()
  }

  private func tellStatus() {
    let parts = Bridge.AttachmentState.allCases.compactMap { state in
      let count = attachments.count(state)
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let status = parts.isEmpty ? "no accessory" : parts.joined(separator: ", ")
    guard status != lastStatus else { return }
    lastStatus = status
    hooks.onStatus(status)
  }
}
