// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

@testable import BridgeService

// What the targets for files of the history share.

/// A file in memory.
final class FuzzFile: HistoryFile {
  let bytes: Locked<[UInt8]?>
  let path = "file"

  init(_ bytes: [UInt8]?) { self.bytes = Locked(bytes) }

  func prepare() throws(AccessoryError) {}
  func read(limit: Int) throws(AccessoryError) -> [UInt8]? { bytes.withLock { $0.map { Array($0.prefix(limit)) } } }
  func append(_ more: [UInt8]) throws(AccessoryError) { bytes.withLock { $0 = ($0 ?? []) + more } }
  func replace(_ whole: [UInt8]) throws(AccessoryError) { bytes.withLock { $0 = whole } }

  /// What follows the signature of a made-up file. The first byte says whether the rest is taken as it is, or as pieces that get the
  /// frames of records, with right checksums.
  static func records(of input: [UInt8]) -> [UInt8] {
    var rest = input[1...]
    guard input[0] & 1 != 0 else { return Array(rest) }
    var file: [UInt8] = []
    while let length = rest.popFirst() {
      let content = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(content.count)
      HistoryFrame.write(content, to: &file)
    }
    return file
  }
}
