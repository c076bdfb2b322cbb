// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

@testable import BridgeService

// A target for libFuzzer: the files of the long history, as a disk or a stranger may have left them. The first byte says which tier, and
// whether the records get right checksums.

/// A file in memory.
private final class FuzzFile: HistoryFile {
  let bytes: Locked<[UInt8]?>
  let path = "file"

  init(_ bytes: [UInt8]?) { self.bytes = Locked(bytes) }

  func prepare() throws(AccessoryError) {}
  func read(limit: Int) throws(AccessoryError) -> [UInt8]? { bytes.withLock { $0.map { Array($0.prefix(limit)) } } }
  func append(_ more: [UInt8]) throws(AccessoryError) { bytes.withLock { $0 = ($0 ?? []) + more } }
  func replace(_ whole: [UInt8]) throws(AccessoryError) { bytes.withLock { $0 = whole } }
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 0 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: data, count: count))
  let part = input[0] & 2 == 0 ? HistoryPart.days : .months
  let tier = part.tiers[0]
  var file = input[0] & 4 == 0 ? HistoryRecord.signature : OldHistoryRecord.longSignature
  if input[0] & 1 == 0 {
    file += input[1...]
  } else {
    // Pieces of the input as contents of records.
    var rest = input[1...]
    while let length = rest.popFirst() {
      let content = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(content.count)
      HistoryFrame.write(content, to: &file)
    }
  }
  var ids: Set<String> = []
  let dropped = HistoryRecord.read(file, part) { block in
    ids.insert(block.id)
    precondition(block.series.count <= HistoryLimits.seriesLimit)
    for series in block.series { precondition(series.buckets.count <= tier.capacity) }
    precondition(block.energy.hours.count <= tier.hourCount)
  }
  precondition(dropped <= file.count)
  // The history goes on with it.
  func files(_ other: HistoryPart) -> [FuzzFile] {
    (0..<other.fileCount).map { FuzzFile(other == part && $0 == 1 ? file : nil) }
  }
  let history = HistoryDisk(FuzzFile(nil), days: files(.days), months: files(.months))
  let now = 1_800_000_000.0
  var store = HistoryStore()
  for id in ids.sorted().prefix(3) + ["own"] {
    for time in stride(from: now - 7_200, to: now, by: 60) { store.add(id, "x", unit: nil, 1, at: time) }
  }
  guard (try? history.note(store, offset: 0, wall: now)) != nil else { preconditionFailure("memory takes everything") }
  for id in ids.sorted().prefix(3) + ["own"] {
    guard let long = try? history.extract(of: id, since: now - 9e6, now: now) else {
      preconditionFailure("memory tells everything")
    }
    let answer = HistoryAnswer(recent: nil, offset: 0, seconds: 9e6, now: now, long: long)
    for series in answer.series(nil) {
      for (point, next) in zip(series.points, series.points.dropFirst()) {
        precondition(point.time < next.time && point.end <= next.time + 1e-3 && point.span > 0)
      }
    }
    for amount in answer.energy.hours.values { precondition(amount.seconds >= 0 && amount.seconds <= 3_600) }
  }
  let own = try? history.extract(of: "own", since: now - 7_200, now: now)
  precondition(own?.days.series.first?.points.isEmpty == false, "what is read now is there")
  return 0
}
