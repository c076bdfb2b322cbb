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
    guard device.control != nil, client.isListening, let terminal = client.terminal,
      let now = terminal.pseudo.settings(), let known = terminal.settings, now != known
    else { return }
    client.terminal?.settings = now
    guard let changes = LineChanges(from: known, to: now), requests.mayChange(client) else { return }
    client.intake.actions.append(.line(.change(changes)))
    // The next program finds the settings that this one has made.
    for next in clients.all.values where !next.isListening && next.isTerminal(besides: client) {
      set(next, to: now)
    }
  }

  /// Reads the settings regularly, while the terminal is open.
  func watch(_ client: HubClient) {
    guard client.isListening, !client.isLeaving, client.terminal != nil else { return }
    look(at: client)
    requests.work(client)
    guard device.control != nil, client.terminal?.isWatched == false else { return }
    client.terminal?.isWatched = true
    after(Self.interval) { [id = client.id] parts in
      guard let client = parts.clients[id] else { return }
      client.terminal?.isWatched = false
      parts.terminals.watch(client)
    }
  }

  /// Starts watching the terminals that programs opened before the device's line was open.
  func watchAll() {
    for client in clients.all.values where client.isListening && client.terminal?.isWatched == false { watch(client) }
  }

  /// Sets a terminal's settings to those of the device's line, if there is one, and stores them so that later changes are noticed.
  func follow(_ client: HubClient) {
    set(client, to: device.control == nil ? nil : line.memory.status)
  }

  private func set(_ client: HubClient, to settings: LineStatus?) {
    guard let terminal = client.terminal else { return }
    if let settings { terminal.pseudo.applySettings(settings) }
    client.terminal?.settings = terminal.pseudo.settings()
  }

  /// Sets the line's settings on the terminals that no program has open.
  func followAll() {
    for client in clients.all.values where !client.isListening { follow(client) }
  }

  /// Requests for the settings that programs made on terminals before the device's line was open.
  func settingsMadeBefore() -> [LineRequest] {
    var made: [LineRequest] = []
    for client in clients.all.values.sorted(by: { $0.id < $1.id }) where client.isListening {
      guard requests.mayChange(client), let terminal = client.terminal, let now = terminal.pseudo.settings(),
        let known = terminal.settings, let changes = LineChanges(from: known, to: now)
      else { continue }
      client.terminal?.settings = now
      line.isUsed(by: client.id)
      made.append(.change(changes))
    }
    return made
  }
}
