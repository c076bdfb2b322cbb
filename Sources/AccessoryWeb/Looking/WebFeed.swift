// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// The source of the page's accessories: the services of this machine, or a fleet. The page shows the same as `top`.
package protocol WebFeed: TopFeed {
  /// Follows the accessories until the task is cancelled.
  func run() async
  /// Disconnects. The feed isn't used again.
  func close() async
  /// The points of these series in the last `time`, as far as they are kept; empty without a history.
  func history(of key: UInt64, _ names: [String], last time: Duration) async -> [ReadingSeries]
  /// The points of this series in the last 24 hours, each of them for at least `step` seconds, and the energy of each hour; empty
  /// without a history.
  func day(of key: UInt64, _ name: String?, step: Double) async -> (series: [ReadingSeries], energy: Energy?)
  /// The commands of an accessory that its service permits to clients that only read.
  func commands(of key: UInt64) async -> [CommandDescription]
  /// Performs one of these commands, and returns its answer. Throws `permissionDenied` for any other command, and the service's
  /// errors.
  func perform(
    _ command: CommandDescription, _ arguments: [String: String], on key: UInt64
  ) async throws(AccessoryError) -> [NamedValue]
}

extension WebFeed {
  package func close() async {}
  package func history(of key: UInt64, _ names: [String], last time: Duration) async -> [ReadingSeries] { [] }
  package func day(
    of key: UInt64, _ name: String?, step: Double
  ) async -> (series: [ReadingSeries], energy: Energy?) { ([], nil) }
  package func commands(of key: UInt64) async -> [CommandDescription] { [] }
  package func perform(
    _ command: CommandDescription, _ arguments: [String: String], on key: UInt64
  ) async throws(AccessoryError) -> [NamedValue] {
    throw AccessoryError(.permissionDenied, "commands can't be sent from here")
  }
}
