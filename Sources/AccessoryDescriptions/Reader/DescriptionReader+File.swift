// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryIO

extension DescriptionReader {
  /// Reads the description in a file that the user names. Doesn't check who else could have written the file. Throws
  /// what `read` throws, and when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func read(path: String, takenNames: Set<String>) throws(ProfileProblems) -> DescribedProtocol {
    try read(try SettingsFile.contents(of: path), file: path, takenNames: takenNames, keepsText: true)
  }

  /// Whether a file is a description and not a profile: one of its lines begins with `framings:` or `registers:`.
  /// Returns false when the file can't be read. Blocks: call it on a `SetupQueue`.
  public static func isDescription(path: String) -> Bool {
    guard let bytes = try? SmallFile.read(path, limit: sizeLimit + 1) else { return false }
    return bytes.split(separator: UInt8(ascii: "\n")).contains {
      $0.starts(with: "framings:".utf8) || $0.starts(with: "registers:".utf8)
    }
  }
}
