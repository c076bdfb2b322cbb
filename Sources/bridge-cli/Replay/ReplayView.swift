// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessorySimulator
import CommandOutput

/// Prints the events of a replay, as text or as JSON.
struct ReplayView: Sendable {
  let json: Bool
  let link: String?
  let serial: String?
  let framing: TraceFraming
  let file: String

  private static let shownBytes = 32

  func show(_ event: ReplaySimulator.Event, _ progress: ReplaySimulator.Progress) {
    switch event {
    case .pluggedIn(let path):
      let who = serial.map { SafeText.escape($0) } ?? "the accessory"
      let linked = link.map { ", linked from \(SafeText.escape($0))" } ?? ""
      say("plugged_in", "\(who) is plugged in at \(path)\(linked)", progress, path: path)
    case .unplugged: say("unplugged", "unplugged", progress)
    case .lost(let count):
      let text = "the recording lacks \(Amount.bytes(count)) here: from now on what the host sends is not checked"
      say("lost", text, progress, lost: count)
    case .differed(let difference):
      if json { say("differed", "", progress, difference: difference) } else { lines(difference).forEach(Output.line) }
    case .finished:
      say("finished", "replayed to the end: the host sent \(Amount.bytes(progress.hostTotal)) as recorded", progress)
    case .failed: break
    }
  }

  /// Prints the progress of a replay that Ctrl-C interrupted.
  func showInterrupted(_ progress: ReplaySimulator.Progress) {
    say(
      "interrupted", "interrupted: the host sent \(progress.hostBytes) of \(progress.hostTotal) recorded bytes",
      progress)
  }

  /// The error with which the command ends after a difference.
  func error(_ difference: ReplayDifference) -> AccessoryError {
    let place = "offset \(difference.offset)"
    let path = SafeText.escape(file, limit: 500)
    return switch difference.reason {
    case .otherBytes: AccessoryError(.badData, "the host differs from \(path) at \(place)")
    case .tooMuch: AccessoryError(.badData, "the host sent more than \(path) has, from \(place) on")
    case .silence:
      AccessoryError(
        .timedOut, "the host stopped sending: \(path) has \(difference.expected.count) more bytes from it, at \(place)")
    }
  }

  // MARK: - A difference

  /// The difference as lines of text.
  func lines(_ difference: ReplayDifference) -> [String] {
    var lines: [String] = []
    let time = difference.time.map { ", recorded at \(Recording.seconds($0).dropLast(3)) s" } ?? ""
    lines.append("first difference: at offset \(difference.offset) of what the host sent\(time)")
    lines.append("  expected  " + shown(difference.expected, "nothing more"))
    lines += words(difference.expectedRecord).map { "            " + $0 }
    lines.append("  got       " + shown(difference.got, "nothing"))
    lines += words(difference.gotRecord).map { "            " + $0 }
    return lines
  }

  private func shown(_ bytes: [UInt8], _ nothing: String) -> String {
    guard !bytes.isEmpty else { return nothing }
    let more = bytes.count > Self.shownBytes ? "… (\(bytes.count) bytes)" : ""
    return Hexadecimal.string(bytes.prefix(Self.shownBytes)) + more
  }

  /// Descriptions of the frames in bytes that a host sent.
  private func words(_ bytes: [UInt8]) -> [String] {
    guard !bytes.isEmpty, let reader = framing.reader else { return [] }
    var tracer = FrameTracer(silence: .milliseconds(50), reader: reader)
    let entries = tracer.add(TraceRecord(time: .zero, direction: .toDevice, bytes: bytes)) + tracer.finish()
    return entries.compactMap { entry in
      switch entry.content {
      case .frame(let words):
        let summary = words.summary.isEmpty ? "" : "  " + SafeText.escape(words.summary, limit: 200)
        return SafeText.escape(words.title, limit: 120) + summary
      case .noise(let count): return "\(Amount.bytes(count)) that \(count == 1 ? "is" : "are") not a frame"
      case .lost, .bytes, .note: return nil
      }
    }
  }

  // MARK: - Output

  private func say(
    _ event: String, _ text: String, _ progress: ReplaySimulator.Progress, path: String? = nil, lost: Int? = nil,
    difference: ReplayDifference? = nil
  ) {
    guard json else { return Output.line(text) }
    Output.json(
      ReplayDocument(
        event: event, serial: serial, path: path, link: path == nil ? nil : link,
        host_bytes: progress.hostBytes, host_total_bytes: progress.hostTotal, lost_bytes: lost,
        difference: difference.map { ReplayDocument.Difference($0, words) }))
  }
}

/// An event of a replay, in JSON.
struct ReplayDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.replayEvent
  let event: String
  let time = WallClock.seconds
  let serial: String?
  /// The path or address of the accessory, and the link to it.
  let path, link: String?
  /// The number of bytes that the host has sent as recorded, and the number in the whole recording.
  let host_bytes, host_total_bytes: Int
  /// The number of bytes that the recording lacks; null for other events.
  let lost_bytes: Int?
  let difference: Difference?

  struct Difference: Encodable {
    let reason: String
    let offset: Int
    /// The recorded time of the expected bytes, in seconds since the recording began.
    let recorded_s: Double?
    let expected_hex, got_hex: String
    /// Descriptions of the frames in the expected and in the received record.
    let expected, got: [String]

    init(_ difference: ReplayDifference, _ words: ([UInt8]) -> [String]) {
      reason = difference.reason.rawValue
      offset = difference.offset
      recorded_s = difference.time.map { $0 / .seconds(1) }
      (expected_hex, got_hex) = (Hexadecimal.string(difference.expected), Hexadecimal.string(difference.got))
      (expected, got) = (words(difference.expectedRecord), words(difference.gotRecord))
    }
  }
}
