// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

@testable import BridgeService

// A target for libFuzzer: the files of the long history, as a disk or a stranger may have left them. The first byte says which tier, and
// whether the records get right checksums.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let data, count > 0 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: data, count: count))
  let part = input[0] & 2 == 0 ? HistoryPart.days : .months
  let tier = part.tiers[0]
  let signature = input[0] & 4 == 0 ? HistoryRecord.signature : OldHistoryRecord.longSignature
  let file = signature + FuzzFile.records(of: input)
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
