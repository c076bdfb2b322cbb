// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The contents of a history file, within the limits of `HistoryLadder`.
struct HistoryContents: Sendable {
  var store: HistoryStore
  /// The last position of the timeline; nil if the file contains nothing usable.
  var anchor: HistoryTimeline.Anchor?
  /// The number of bytes that don't belong to a valid record.
  var dropped: Int
  var byteCount: Int
  /// Whether the finest buckets of some series were dropped, because the service had ended before it wrote the last ones.
  private(set) var isUnfinished = false

  /// The largest file that is read: twice the size limit, because a log contains some buckets more than once.
  static let limit = 2 * HistoryLadder.totalByteLimit

  /// Reads the bytes of a file.
  init(_ file: [UInt8], byteLimit: Int = HistoryLadder.totalByteLimit) {
    store = HistoryStore(byteLimit: byteLimit)
    byteCount = file.count
    var last: HistoryTimeline.Anchor?
    dropped = HistoryRecord.read(file) { if case .anchor(let anchor) = $0 { last = anchor } }
    anchor = last
    guard let last else {
      dropped = file.count
      return
    }
    // A bucket in the future can only be an error, and it would hide all new readings.
    let latest = last.time + Double(HistoryLadder.widths[HistoryLadder.widths.count - 1])
    var kept = store
    _ = HistoryRecord.read(file) { record in
      guard case .spans(var entry) = record else { return }
      let width = Double(HistoryLadder.widths[entry.rung])
      entry.buckets.removeAll { Double($0.slot) * width > latest }
      kept.restore(entry.id, entry.name, unit: entry.unit, entry.buckets, rung: entry.rung)
    }
    isUnfinished = kept.dropUnfinished()
    store = kept
  }
}
