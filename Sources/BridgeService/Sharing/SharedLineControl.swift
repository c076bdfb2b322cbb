// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The serial line of a device that the service shares. While the line is lent, requests go to the device. Otherwise `status` returns
/// the settings that were in force before the sharing began, and other requests throw `disconnected`; the hub repeats them when the
/// line is lent.
final class SharedLineControl: LineControl {
  private let label: String
  private let known: LineStatus
  private let lent = Locked<(any LineControl)?>(nil)

  init(label: String, known: LineStatus) { (self.label, self.known) = (label, known) }

  /// Sets the line control of the device while the line is lent; nil when it isn't.
  func use(_ line: (any LineControl)?) { lent.withLock { $0 = line } }

  private var current: (any LineControl)? { lent.withLock { $0 } }

  private func line() throws(AccessoryError) -> any LineControl {
    guard let current else { throw .disconnected(label) }
    return current
  }

  var timing: LineTiming { current?.timing ?? known.timing }

  func status() async throws(AccessoryError) -> LineStatus {
    guard let current else { return known }
    return try await current.status()
  }

  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus { try await line().change(changes) }

  func modemLines() async throws(AccessoryError) -> ModemLines { try await line().modemLines() }

  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try await line().set(raising: raised, lowering: lowered)
  }

  func setBreak(_ isOn: Bool) async throws(AccessoryError) { try await line().setBreak(isOn) }

  func purge(_ buffers: LineBuffers) async throws(AccessoryError) { try await line().purge(buffers) }
}
