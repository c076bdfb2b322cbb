// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a file of the history says: at most what `HistoryLadder` has bounds for.
struct HistoryContents: Sendable {
  var store: HistoryStore
  /// Where the time line was last; nil when the file says nothing that can be used.
  var anchor: HistoryTimeline.Anchor?
  /// How many bytes were no whole record.
  var dropped: Int
  var byteCount: Int

  /// The longest file that is read: twice what is kept, since a log has some spans more than once.
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
    // A span of the future can only be a mistake: it would hide what is read from now on.
    let latest = last.time + Double(HistoryLadder.widths[HistoryLadder.widths.count - 1])
    var kept = store
    _ = HistoryRecord.read(file) { record in
      guard case .spans(var entry) = record else { return }
      let width = Double(HistoryLadder.widths[entry.rung])
      entry.buckets.removeAll { Double($0.slot) * width > latest }
      kept.restore(entry.id, entry.name, unit: entry.unit, entry.buckets, rung: entry.rung)
    }
    store = kept
  }
}
