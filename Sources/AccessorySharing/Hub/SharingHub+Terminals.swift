// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Settings that programs make on pseudo-terminals, which are passed on to the device's line.
extension SharingHub {
  /// The interval of reading a terminal's settings while a program has it open, since the kernel doesn't report
  /// changes. They are also read before each piece that is sent.
  private static let interval = Duration.milliseconds(100)

  /// Queues a request for the settings that a program has changed since they were last read.
  func lookAtSettings(of client: HubClient) {
    guard case .terminal(let terminal) = client.kind, device?.line != nil, client.isListening,
      let now = terminal.settings(), let known = client.settings, now != known
    else { return }
    client.settings = now
    if let changes = LineChanges(from: known, to: now), mayChange(client) {
      client.actions.append(.line(.change(changes)))
    }
  }

  /// Reads the settings regularly, while the terminal is open.
  func watchSettings(of id: HubClient.ID) {
    guard let client = clients[id], client.isListening, !client.isLeaving, case .terminal = client.kind else { return }
    lookAtSettings(of: client)
    work(client)
    guard device?.line != nil, !client.isWatchingSettings else { return }
    client.isWatchingSettings = true
    _ = clock.schedule(at: clock.now + Self.interval) { [weak self] in
      self?.onThread { hub in
        hub.clients[id]?.isWatchingSettings = false
        hub.watchSettings(of: id)
      }
    }
  }

  /// Sets the line's settings on the terminals that no program has open.
  func terminalsFollow() {
    for client in clients.values where !client.isListening { follow(client) }
  }

  /// Sets a terminal's settings to those of the device's line, if there is one, and stores them so that later changes are noticed.
  func follow(_ client: HubClient) {
    guard case .terminal(let terminal) = client.kind else { return }
    if device?.line != nil { terminal.applySettings(memory.status) }
    client.settings = terminal.settings()
  }

  /// Requests for the settings that programs made on terminals before the device's line was open.
  func settingsMadeBefore() -> [LineRequest] {
    var requests: [LineRequest] = []
    for client in clients.values.sorted(by: { $0.id < $1.id }) where client.isListening {
      guard mayChange(client), case .terminal(let terminal) = client.kind, let now = terminal.settings(),
        let known = client.settings, let changes = LineChanges(from: known, to: now)
      else { continue }
      client.settings = now
      lineUsers.insert(client.id)
      requests.append(.change(changes))
    }
    return requests
  }

  /// Starts watching the terminals that programs opened before the device's line was open.
  func watchOpenTerminals() {
    for client in clients.values where client.isListening && !client.isWatchingSettings { watchSettings(of: client.id) }
  }
}
