// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// Invalid calls. They do nothing and are logged, once for each text.
enum Misuse {
  /// The most remembered texts, so that memory stays bounded. Further texts are logged each time.
  private static let limit = 256
  private static let said = Locked<Set<String>>([])

  /// The messages logged so far, for tests.
  static var texts: Set<String> { said.withLock { $0 } }

  static func log(_ text: String) {
    let isNew = said.withLock { said in said.count < limit ? said.insert(text).inserted : !said.contains(text) }
    if isNew { NSLog("CoreBluetooth: API misuse: \(text)") }
  }
}
