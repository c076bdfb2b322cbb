// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Settings that programs make on pseudo-terminals, which are passed on to the device's line.
extension SharingHub {
  /// The interval of reading a terminal's settings while a program has it open, since the kernel doesn't report
  /// changes. They are also read before each piece that is sent.
  private static let interval = Duration.milliseconds(100)

  /// Queues a request for the settings that a program has changed since they were last read.
  func lookAtSettings(of sharer: Sharer) {
    guard case .terminal(let terminal) = sharer.kind, device?.line != nil, sharer.isListening,
      let now = terminal.settings(), let known = sharer.settings, now != known
    else { return }
    sharer.settings = now
    if let changes = LineChanges(from: known, to: now), mayChange(sharer) {
      sharer.deeds.append(.line(.change(changes)))
    }
  }

  /// Reads the settings regularly, while the terminal is open.
  func watchSettings(of id: Sharer.ID) {
    guard let sharer = sharers[id], sharer.isListening, !sharer.isLeaving, case .terminal = sharer.kind else { return }
    lookAtSettings(of: sharer)
    work(sharer)
    guard device?.line != nil, !sharer.isWatchingSettings else { return }
    sharer.isWatchingSettings = true
    _ = clock.schedule(at: clock.now + Self.interval) { [weak self] in
      self?.onThread { hub in
        hub.sharers[id]?.isWatchingSettings = false
        hub.watchSettings(of: id)
      }
    }
  }

  /// Sets the line's settings on the terminals that no program has open.
  func terminalsFollow() {
    for sharer in sharers.values where !sharer.isListening { follow(sharer) }
  }

  /// Sets a terminal's settings to those of the device's line, if there is one, and stores them so that later changes are noticed.
  func follow(_ sharer: Sharer) {
    guard case .terminal(let terminal) = sharer.kind else { return }
    if device?.line != nil { terminal.applySettings(memory.status) }
    sharer.settings = terminal.settings()
  }

  /// Requests for the settings that programs made on terminals before the device's line was open.
  func settingsMadeBefore() -> [LineRequest] {
    var requests: [LineRequest] = []
    for sharer in sharers.values.sorted(by: { $0.id < $1.id }) where sharer.isListening && mayChange(sharer) {
      guard case .terminal(let terminal) = sharer.kind, let now = terminal.settings(), let known = sharer.settings,
        let changes = LineChanges(from: known, to: now)
      else { continue }
      sharer.settings = now
      lineUsers.insert(sharer.id)
      requests.append(.change(changes))
    }
    return requests
  }

  /// Starts watching the terminals that programs opened before the device's line was open.
  func watchOpenTerminals() {
    for sharer in sharers.values where sharer.isListening && !sharer.isWatchingSettings { watchSettings(of: sharer.id) }
  }
}
