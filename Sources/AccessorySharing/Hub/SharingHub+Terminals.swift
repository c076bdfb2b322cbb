// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Settings that programs make on pseudo-terminals, which are passed on to the device's line.
extension SharingHub {
  /// How often they are looked at while somebody has the terminal open: the kernel doesn't tell of them. They are looked at
  /// before each piece that is sent, too.
  private static let interval = Duration.milliseconds(100)

  /// Asks for what was set since the last look.
  func lookAtSettings(of sharer: Sharer) {
    guard case .terminal(let terminal) = sharer.kind, device?.line != nil, sharer.isListening,
      let now = terminal.settings(), let known = sharer.settings, now != known
    else { return }
    sharer.settings = now
    if let changes = LineChanges(from: known, to: now), mayChange(sharer) {
      sharer.deeds.append(.line(.change(changes)))
    }
  }

  /// Looks again and again, while it is open.
  func watchSettings(of id: Sharer.ID) {
    guard let sharer = sharers[id], sharer.isListening, !sharer.isLeaving, case .terminal = sharer.kind else { return }
    lookAtSettings(of: sharer)
    work(sharer)
    guard device?.line != nil else { return }
    _ = clock.schedule(at: clock.now + Self.interval) { [weak self] in self?.onThread { $0.watchSettings(of: id) } }
  }

  /// Gives terminals that nobody has open the settings that are in force.
  func terminalsFollow() {
    for sharer in sharers.values where !sharer.isListening { follow(sharer) }
  }

  func follow(_ sharer: Sharer) {
    guard case .terminal(let terminal) = sharer.kind, device?.line != nil else { return }
    terminal.follow(memory.status)
    sharer.settings = terminal.settings()
  }
}
