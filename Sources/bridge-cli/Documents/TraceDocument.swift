// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import CommandOutput

/// The check of a frame that isn't the one of its bytes.
struct CheckDocument: Encodable {
  let received: BytesDocument
  let calculated: BytesDocument
}

/// One entry of a trace.
struct TraceDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.trace
  /// In seconds since 1970, UTC; null where a recording doesn't say when it was made.
  let time: Double?
  /// In seconds since the trace began.
  let elapsed_s: Double
  let kind: String
  /// Null for lost bytes, which may have gone either way, and for notes.
  let direction: String?
  private(set) var outcome, command, summary: String?
  private(set) var payload: BytesDocument?
  private(set) var frame: BytesDocument?
  /// Of a frame with a wrong check.
  private(set) var check: CheckDocument?
  private(set) var command_byte: UInt8?
  private(set) var number: UInt16?
  private(set) var noise_bytes: Int?
  private(set) var lost_bytes: Int?
  /// The protocol's name, and the decoded fields of the frame.
  private(set) var `protocol`: String?
  private(set) var fields: [String: PlainValue]?

  /// An entry of a trace that began at `began`, in seconds since 1970, UTC.
  init(_ entry: TraceEntry, began: Double?) {
    elapsed_s = Double(entry.time.inNanoseconds) / 1e9
    time = began.map { ($0 * 1_000 + Double(entry.time.inNanoseconds) / 1e6).rounded() / 1_000 }
    (outcome, command, summary) = (nil, nil, nil)
    switch entry.content {
    case .lost(let count):
      kind = "lost"
      direction = nil
      lost_bytes = count
    case .note(let text):
      kind = "note"
      direction = nil
      summary = text
    case .noise(let count):
      kind = "noise"
      direction = entry.direction.rawValue
      noise_bytes = count
    case .bytes(let bytes):
      kind = "bytes"
      direction = entry.direction.rawValue
      payload = BytesDocument(bytes)
    case .frame(let words):
      kind = words.kind
      direction = entry.direction.rawValue
      `protocol` = words.protocol
      command = words.command
      command_byte = words.commandByte
      number = words.number
      let isWhole = words.outcome == .whole
      outcome = Self.name(words.outcome)
      summary = words.summary.isEmpty ? nil : words.summary
      payload = isWhole ? BytesDocument(words.payload) : nil
      frame = isWhole || !words.bytes.isEmpty ? BytesDocument(words.bytes) : nil
      check = words.mismatch.map { CheckDocument(received: .init($0.received), calculated: .init($0.calculated)) }
      fields =
        Dictionary(words.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }
  }

  private static func name(_ outcome: FrameOutcome) -> String {
    switch outcome {
    case .whole: "whole"
    case .payloadDamaged: "payload_damaged"
    case .tooLong: "too_long"
    case .otherVersion: "other_version"
    case .malformed: "malformed"
    }
  }
}
