// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The file of the history. Its methods block, and are called on the history's own queue, one at a time.
protocol HistoryFile: Sendable {
  /// The path, for the log.
  var path: String { get }
  /// Makes the file's folder ready. Throws `busy` when another service keeps its history there.
  func prepare() throws(AccessoryError)
  /// The file's bytes; nil when there is none.
  func read(limit: Int) throws(AccessoryError) -> [UInt8]?
  /// Adds bytes at the end, all of them or none.
  func append(_ bytes: [UInt8]) throws(AccessoryError)
  /// Writes the file anew.
  func replace(_ bytes: [UInt8]) throws(AccessoryError)
}

/// What is to be written of the history.
///
/// The file is a log: each minute the spans that have changed are added at its end, and now and then the whole is written
/// anew. An SD card wears out by the blocks that are written: with one accessory a minute's spans are one kilobyte, and
/// so a block; the whole file would be twenty. A record that was torn by a loss of power is found by its checksum, and
/// costs a minute.
struct HistoryWrite: Sendable {
  /// What is added at the file's end.
  enum Content: Sendable {
    case added([HistoryEntry])
    /// The file is written anew, with all of this.
    case whole(HistoryStore)
  }

  var content: Content
  var anchor: HistoryTimeline.Anchor

  /// Encodes and writes it; blocks. Returns the number of bytes.
  func perform(on file: any HistoryFile) throws(AccessoryError) -> Int {
    try file.prepare()
    var bytes: [UInt8] = []
    switch content {
    case .added(let entries):
      HistoryRecord.anchor(anchor).write(to: &bytes)
      for entry in entries { HistoryRecord.spans(entry).write(to: &bytes) }
      try file.append(bytes)
    case .whole(let store):
      bytes = HistoryRecord.signature
      HistoryRecord.anchor(anchor).write(to: &bytes)
      for entry in store.entries { HistoryRecord.spans(entry).write(to: &bytes) }
      try file.replace(bytes)
    }
    return bytes.count
  }
}
