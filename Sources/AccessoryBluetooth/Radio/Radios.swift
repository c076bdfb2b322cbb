// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The radio for new sessions.
package enum Radios {
  /// The radio that a test has set for its task.
  @TaskLocal package static var ofTask: (any Radio)?
  private static let ofProgram = Locked<(any Radio)?>(nil)

  /// Uses a radio everywhere in this program; nil means the computer's own.
  package static func install(_ radio: (any Radio)?) { ofProgram.withLock { $0 = radio } }

  /// The radio of this task, or else the program's; nil for the computer's.
  package static var installed: (any Radio)? { ofTask ?? ofProgram.withLock { $0 } }

  /// The radio of this task, or else the program's, or else the computer's, with the adapter of this name or any adapter.
  package static func current(by adapter: BluetoothAdapterName?) -> any Radio {
    installed ?? BlueZRadio(by: adapter)
  }
}
