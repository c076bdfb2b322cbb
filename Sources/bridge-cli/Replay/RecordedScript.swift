// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessorySimulator

/// The script for a replay, read from a recording on disk.
struct RecordedScript: Sendable {
  /// The steps. A file may contain several traces; the accessory is unplugged between two of them.
  var script = ReplayScript()
  /// The framing of the first trace.
  var framing = TraceFraming.none

  private var hasBegun = false
  /// Whether a trace after the first one has begun that has no step yet.
  private var isNew = false
  /// The begin of the current trace and of the previous one, since 1970, UTC; nil when the file doesn't state it.
  private var (began, lastBegan): (Duration?, Duration?)
  /// The script's time at the current trace's time 0.
  private var base = Duration.zero
  private var lastTime = Duration.zero

  /// Reads a recording. Blocks, so call it on a `SetupQueue`. Throws `badData` with the number of the invalid line,
  /// `misconfigured` when the recording has no bytes, `unsupported` when it is too long, and the errors of reading the
  /// file.
  static func read(_ path: String) throws(AccessoryError) -> RecordedScript {
    var recorded = RecordedScript()
    var failure: AccessoryError?
    try RecordingFile.read(path) { line in
      do throws(AccessoryError) {
        try recorded.add(line)
        return true
      } catch {
        failure = AccessoryError(error.kind, "\(path): \(error.message)")
        return false
      }
    }
    if let failure { throw failure }
    guard !recorded.script.steps.isEmpty else {
      throw AccessoryError(.misconfigured, "\(path) has no bytes that could be replayed")
    }
    return recorded
  }

  private mutating func add(_ line: Recording.Line) throws(AccessoryError) {
    switch line {
    case .start(_, let framing):
      if !hasBegun { self.framing = framing }
      isNew = hasBegun
      hasBegun = true
      (lastBegan, began) = (began, nil)
    case .began(let time): began = time
    // Events of the connection aren't part of the bytes.
    case .record(let record) where record.note != nil: break
    case .record(let record):
      try takeUp(record.time)
      if record.lostBytes > 0 { try add(.loss(byteCount: record.lostBytes), record.time) }
      if !record.bytes.isEmpty {
        try add(record.direction == .toDevice ? .host(record.bytes) : .accessory(record.bytes), record.time)
      }
    case .unplugged(let time):
      try takeUp(time)
      try add(.unplug, time)
    case .plugged(let time):
      try takeUp(time)
      try add(.plugIn, time)
    case .comment: break
    }
  }

  /// Adds the unplug between two traces, before the first step of the second one. When both traces have the same begin,
  /// as the trace command writes them for an accessory that was plugged in again, the recorded pause is kept. Otherwise
  /// the second trace follows without a pause.
  private mutating func takeUp(_ time: Duration) throws(AccessoryError) {
    guard isNew else { return }
    isNew = false
    if began == nil || began != lastBegan { base = lastTime - time }
    try script.add(.unplug, at: lastTime)
    try add(.plugIn, time)
  }

  private mutating func add(_ step: ReplayScript.Step, _ time: Duration) throws(AccessoryError) {
    lastTime = max(lastTime, base + time)
    try script.add(step, at: lastTime)
  }
}
