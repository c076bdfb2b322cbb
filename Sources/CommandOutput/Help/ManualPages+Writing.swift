// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

extension ManualPages {
  /// Writes the pages into a folder, and creates the folder if it doesn't exist. Blocks.
  package func write(into folder: String) throws(AccessoryError) {
    if mkdir(folder, 0o755) != 0, errno != EEXIST {
      throw AccessoryError(errno: Errno(rawValue: errno), "making \(folder)")
    }
    for page in pages { try Self.write(page.text, to: folder + "/" + page.file) }
  }

  private static func write(_ text: String, to path: String) throws(AccessoryError) {
    guard let file = fopen(path, "we") else { throw AccessoryError(errno: Errno(rawValue: errno), "making \(path)") }
    let isWritten = fputs(text, file) >= 0
    let isClosed = fclose(file) == 0
    guard isWritten, isClosed else { throw AccessoryError(errno: Errno(rawValue: errno), "writing \(path)") }
  }
}
