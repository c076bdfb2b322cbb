// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// Calls that make no sense where they are made. Nothing happens but that the log says so, once for each text.
enum Misuse {
  /// The most texts that are remembered. Others are logged each time, or a program that runs for years would remember more and
  /// more.
  private static let limit = 256
  private static let said = Locked<Set<String>>([])

  /// The messages logged so far, for tests.
  static var texts: Set<String> { said.withLock { $0 } }

  static func log(_ text: String) {
    let isNew = said.withLock { said in said.count < limit ? said.insert(text).inserted : !said.contains(text) }
    if isNew { NSLog("CoreBluetooth: API misuse: \(text)") }
  }
}
