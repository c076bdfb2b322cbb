// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history file. Its methods block and are called on the history's own queue, one at a time.
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

/// A pending write of the history.
///
/// The file is a log. Each quarter of an hour the changed buckets are appended, and from time to time the whole file is rewritten.
/// This protects SD cards, which wear out with every block that is written. The buckets of 10 s are written only when the service
/// ends. A loss of power can tear a record; its checksum reveals that, and a quarter of an hour is lost.
struct HistoryWrite: Sendable {
  /// The bytes to append.
  enum Content: Sendable {
    case added([HistoryEntry])
    /// Replaces the whole file with this, of the finest buckets only with `finest`.
    case whole(HistoryStore, finest: Bool)
  }

  var content: Content
  var anchor: HistoryTimeline.Anchor

  /// Encodes and writes the content; blocks. Returns the number of bytes.
  func perform(on file: any HistoryFile) throws(AccessoryError) -> Int {
    try file.prepare()
    var bytes: [UInt8] = []
    switch content {
    case .added(let entries):
      HistoryRecord.anchor(anchor).write(to: &bytes)
      for entry in entries { HistoryRecord.spans(entry).write(to: &bytes) }
      try file.append(bytes)
    case .whole(let store, let finest):
      bytes = HistoryRecord.signature
      HistoryRecord.anchor(anchor).write(to: &bytes)
      for entry in store.entries(finest: finest) { HistoryRecord.spans(entry).write(to: &bytes) }
      try file.replace(bytes)
    }
    return bytes.count
  }
}
