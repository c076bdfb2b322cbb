// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A file of the history. Its methods block and are called on the history's own queue, one at a time.
protocol HistoryFile: Sendable {
  /// The path, for the log.
  var path: String { get }
  /// Prepares the file's directory. Throws `busy` if another service keeps its history there.
  func prepare() throws(AccessoryError)
  /// The file's contents; nil if there is no file.
  func read(limit: Int) throws(AccessoryError) -> [UInt8]?
  /// Appends bytes: all of them or none.
  func append(_ bytes: [UInt8]) throws(AccessoryError)
  /// Rewrites the file.
  func replace(_ bytes: [UInt8]) throws(AccessoryError)
}

extension HistoryFile {
  /// Says that the file has no bytes. It is never written so.
  var emptiness: String { "\(path) is empty, as it is after a loss of power or when the disk was full" }
}

/// A pending write of the last day.
///
/// Its file is a log. Each quarter of an hour the changed buckets are appended, and from time to time the whole file is rewritten.
/// This protects SD cards, which wear out with every block that is written. The buckets of 10 s are written only when the service
/// ends. A loss of power can tear a record; its checksum reveals that, and a quarter of an hour is lost.
struct HistoryWrite: Sendable {
  var blocks: [HistoryBlock]
  /// Whether the blocks replace the whole file.
  var isWhole: Bool
  var anchor: HistoryTimeline.Anchor
}
