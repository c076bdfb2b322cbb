// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import Console

/// Makes of what comes what is shown: pieces of the accessory's line, or lines of their own.
struct ReceivedView {
  /// What is to be shown.
  enum Part {
    case text(String)
    case newline
    case line(String)
    case bytes([UInt8])
  }

  private(set) var view: ConsoleView
  private var text = ReceivedText()
  private var tracer: FrameTracer
  private let silence: Duration
  private let framing: TraceFraming
  private let start = MonotonicTime.now
  private let trace = TraceView(json: false, full: false)
  /// Bytes in one line of hexadecimal.
  private static let width = 16

  /// `driver` is the name of the one whose frames come; nil when that isn't known.
  init(_ view: ConsoleView, silence: Duration, driver: String?) {
    self.init(view, silence, TraceFraming(driver: driver))
  }

  private init(_ view: ConsoleView, _ silence: Duration, _ framing: TraceFraming) {
    (self.view, self.silence, self.framing) = (view, silence, framing)
    tracer = FrameTracer(silence: silence, reader: framing.reader)
  }

  /// Another view from now on.
  mutating func change(to view: ConsoleView) -> [Part] {
    let rest = finish()
    self = ReceivedView(view, silence, framing)
    return rest
  }

  mutating func take(_ bytes: [UInt8]) -> [Part] {
    switch view {
    case .text: return parts(text.take(bytes))
    case .hex:
      return stride(from: 0, to: bytes.count, by: Self.width).map { start in
        let row = bytes[start..<min(bytes.count, start + Self.width)]
        let pairs = row.map { Hexadecimal.string([$0]) }.joined(separator: " ")
        let blanks = String(repeating: " ", count: 3 * Self.width - 1 - pairs.count)
        return .line("<  \(pairs)\(blanks)  |\(Hex.text(row))|")
      }
    case .frames:
      let record = TraceRecord(time: MonotonicTime.now - start, direction: .fromDevice, bytes: bytes)
      return shown(tracer.add(record))
    case .asIs: return [.bytes(bytes)]
    }
  }

  /// Learns what is sent: it says what the replies mean. What it shows was told by then, at the latest.
  mutating func sent(_ bytes: [UInt8]) -> [Part] {
    guard view == .frames else { return [] }
    return shown(tracer.add(TraceRecord(time: MonotonicTime.now - start, direction: .toDevice, bytes: bytes)))
  }

  /// What is sent the user has typed: only what comes is shown.
  private func shown(_ entries: [TraceEntry]) -> [Part] {
    entries.filter { $0.direction == .fromDevice }.map { .line(trace.line($0)) }
  }

  /// How long to wait for more until `silent` is to be called; nil when there is no need.
  var patience: Duration? {
    switch view {
    case .text: text.isPending ? silence : nil
    case .frames: tracer.deadline == nil ? nil : silence
    case .hex, .asIs: nil
    }
  }

  /// Nothing came for a while.
  mutating func silent() -> [Part] {
    switch view {
    case .text: parts(text.flush())
    case .frames: shown(tracer.timePassed(MonotonicTime.now - start))
    case .hex, .asIs: []
    }
  }

  /// Nothing comes any more.
  mutating func finish() -> [Part] {
    switch view {
    case .text: return parts(text.flush())
    case .frames:
      defer { tracer = FrameTracer(silence: silence, reader: framing.reader) }
      return shown(tracer.finish())
    case .hex, .asIs: return []
    }
  }

  private func parts(_ pieces: [ReceivedText.Piece]) -> [Part] {
    pieces.map { piece in
      switch piece {
      case .text(let text): .text(text)
      case .newline: .newline
      }
    }
  }
}
