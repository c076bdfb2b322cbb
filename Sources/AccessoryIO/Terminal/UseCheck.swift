// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Finds out whether other programs have a terminal open, and reports it on the I/O thread.
struct UseCheck: Sendable {
  let end: SlaveEnd
  let setup: SetupQueue
  let io: IOThread
  let onUse: (@Sendable (Bool) -> Void)?

  /// A program has opened the terminal. Called on the I/O thread.
  func opened() {
    end.noteOpening()
    onUse?(true)
  }

  /// A program has closed the terminal, or the kernel has lost what happened (`isLost`). If a process still has the terminal open, this
  /// looks once more after a second (`isSecond`). Called on the I/O thread.
  func begin(isLost: Bool, isSecond: Bool = false) {
    let seen = end.openings
    setup.post {
      let isUnused = end.isUnused
      if isUnused { end.endStaleExclusiveMode() }
      io.post {
        // Another program may have opened the terminal meanwhile.
        guard end.openings == seen, end.isStillOpen else { return }
        if isUnused {
          guard onUse != nil else { return }
          end.reset()
          onUse?(false)
        } else {
          if isLost { opened() }
          // A process that this one starts has all descriptors of this one for a moment, and no event tells of their end.
          if !isSecond { _ = io.schedule(at: io.now + .seconds(1)) { begin(isLost: false, isSecond: true) } }
        }
      }
    }
  }
}
