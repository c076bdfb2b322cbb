// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Settings that programs make on pseudo-terminals, which are passed on to the device's line.
final class TerminalSettings: HubPart {
  /// The interval of reading a terminal's settings while a program has it open, since the kernel doesn't report
  /// changes. They are also read before each piece that is sent.
  private static let interval = Duration.milliseconds(100)

  /// Queues a request for the settings that a program has changed since they were last read.
  func look(at client: HubClient) {
    guard device.control != nil, client.isListening, case .terminal(let terminal) = client.kind,
      let now = terminal.settings(), let known = client.settings, now != known
    else { return }
    client.settings = now
    if let changes = LineChanges(from: known, to: now), requests.mayChange(client) {
      client.actions.append(.line(.change(changes)))
    }
  }

  /// Reads the settings regularly, while the terminal is open.
  func watch(_ client: HubClient) {
    guard client.isListening, !client.isLeaving, case .terminal = client.kind else { return }
    look(at: client)
    requests.work(client)
    guard device.control != nil, !client.isWatchingSettings else { return }
    client.isWatchingSettings = true
    after(Self.interval) { [id = client.id] parts in
      guard let client = parts.clients[id] else { return }
      client.isWatchingSettings = false
      parts.terminals.watch(client)
    }
  }

  /// Starts watching the terminals that programs opened before the device's line was open.
  func watchAll() {
    for client in clients.all.values where client.isListening && !client.isWatchingSettings { watch(client) }
  }

  /// Sets a terminal's settings to those of the device's line, if there is one, and stores them so that later changes are noticed.
  func follow(_ client: HubClient) {
    guard case .terminal(let terminal) = client.kind else { return }
    if device.control != nil { terminal.applySettings(line.memory.status) }
    client.settings = terminal.settings()
  }

  /// Sets the line's settings on the terminals that no program has open.
  func followAll() {
    for client in clients.all.values where !client.isListening { follow(client) }
  }

  /// Requests for the settings that programs made on terminals before the device's line was open.
  func settingsMadeBefore() -> [LineRequest] {
    var made: [LineRequest] = []
    for client in clients.all.values.sorted(by: { $0.id < $1.id }) where client.isListening {
      guard requests.mayChange(client), case .terminal(let terminal) = client.kind, let now = terminal.settings(),
        let known = client.settings, let changes = LineChanges(from: known, to: now)
      else { continue }
      client.settings = now
      line.isUsed(by: client.id)
      made.append(.change(changes))
    }
    return made
  }
}
