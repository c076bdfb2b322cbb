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
  private let start = MonotonicTime.now
  private let trace = TraceView(json: false, full: false)
  /// Bytes in one line of hexadecimal.
  private static let width = 16

  init(_ view: ConsoleView, silence: Duration) {
    self.view = view
    self.silence = silence
    tracer = FrameTracer(silence: silence)
  }

  /// Another view from now on.
  mutating func change(to view: ConsoleView) -> [Part] {
    let rest = finish()
    self = ReceivedView(view, silence: silence)
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
      return tracer.add(record).map { .line(trace.line($0)) }
    case .asIs: return [.bytes(bytes)]
    }
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
    case .frames: tracer.timePassed(MonotonicTime.now - start).map { .line(trace.line($0)) }
    case .hex, .asIs: []
    }
  }

  /// Nothing comes any more.
  mutating func finish() -> [Part] {
    switch view {
    case .text: return parts(text.flush())
    case .frames:
      defer { tracer = FrameTracer(silence: silence) }
      return tracer.finish().map { .line(trace.line($0)) }
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
