// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import Console

/// Turns received bytes into what a console shows, either pieces of the current line or whole lines.
struct ReceivedView {
  /// A part of the output.
  enum Part {
    case text(String)
    case newline
    case line(String)
    case bytes([UInt8])
  }

  private(set) var view: ConsoleView
  private let colours: ReceivedText.Colours
  private var text: ReceivedText
  private var tracer: FrameTracer
  private let silence: Duration
  private let framing: TraceFraming
  private let start = MonotonicTime.now
  private let trace = TraceView(json: false, full: false)
  /// The number of bytes in a line of hexadecimal.
  private static let width = 16

  /// `driver` is the name of the driver whose frames are decoded; nil when it isn't known.
  init(_ view: ConsoleView, colours: ReceivedText.Colours, silence: Duration, driver: String?) {
    self.init(view, colours, silence, TraceFraming(driver: driver))
  }

  private init(_ view: ConsoleView, _ colours: ReceivedText.Colours, _ silence: Duration, _ framing: TraceFraming) {
    (self.view, self.silence, self.framing) = (view, silence, framing)
    (self.colours, text) = (colours, ReceivedText(colours: colours))
    tracer = FrameTracer(silence: silence, reader: framing.reader)
  }

  /// Changes the view for the bytes that follow. Returns the output of bytes that were held back.
  mutating func change(to view: ConsoleView) -> [Part] {
    let rest = finish()
    self = ReceivedView(view, colours, silence, framing)
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

  /// Passes sent bytes to the decoder, which needs the requests to decode replies. Returns the output of frames that
  /// end thereby.
  mutating func sent(_ bytes: [UInt8]) -> [Part] {
    guard view == .frames else { return [] }
    return shown(tracer.add(TraceRecord(time: MonotonicTime.now - start, direction: .toDevice, bytes: bytes)))
  }

  /// Frames to the accessory are left out, since the user has typed them.
  private func shown(_ entries: [TraceEntry]) -> [Part] {
    entries.filter { $0.direction == .fromDevice }.map { .line(trace.line($0)) }
  }

  /// The silence after which to call `silent`; nil when no bytes are held back.
  var silenceTimeout: Duration? {
    switch view {
    case .text: text.isPending ? silence : nil
    case .frames: tracer.deadline == nil ? nil : silence
    case .hex, .asIs: nil
    }
  }

  /// Nothing was received for `silenceTimeout`: shows the bytes that were held back.
  mutating func silent() -> [Part] {
    switch view {
    case .text: parts(text.flush())
    case .frames: shown(tracer.timePassed(MonotonicTime.now - start))
    case .hex, .asIs: []
    }
  }

  /// The input has ended: shows the bytes that were held back.
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
