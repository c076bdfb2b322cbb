// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The text format of recordings of traffic.
///
/// A line a record: seconds since the trace began with nine decimals, `<` from the device or `>` to it, the bytes in
/// hexadecimal:
///
///     #accessory-bridge-recording 1 silence 0.050000000
///     0.000412000 > 0ff01100172a0400095f78563412d2876daf
///     0.000893521 < 0ff01200172a080084d401eeffc0001001009bd3fbf2
///
/// The first line begins a trace; `silence` is the pause in seconds after which an unfinished frame no longer holds up
/// what follows it. ` frames NAME` behind it says which driver's frames pass, or with `none` that nobody knows; without it
/// they are AF1's. Where bytes passed that the recorder had to drop, a line in front of the next record says how many, and when; older versions read it as a
/// remark:
///
///     #lost 0.904100000 73211
///
/// Behind the first line a trace says when it began, in seconds since 1970, UTC; version 0.1 didn't, and reads it as a remark:
///
///     #began 1795337583.125000000
///
/// A file may have several traces one after another, so a recording can simply be appended to. Other
/// lines that begin with `#` are remarks. A record is written in one piece with its line end, and what has no line end
/// was cut off: so a file that was cut anywhere reads to its last whole record.
public enum Recording {
  /// What a line says.
  public enum Line: Sendable, Hashable {
    /// A trace begins.
    case start(silence: Duration, framing: TraceFraming = .af1)
    /// When the trace began: the time since 1970, UTC.
    case began(Duration)
    /// Bytes passed, or were lost.
    case record(TraceRecord)
    /// A remark, or nothing.
    case remark
  }

  /// How a recording begins.
  public static let signature = "#accessory-bridge-recording 1"

  /// The line that begins a trace, with its line end. That of AF1 names no frames: so it was from the beginning.
  public static func start(silence: Duration, framing: TraceFraming = .af1) -> String {
    let frames = framing == .af1 ? "" : " frames \(framing.name)"
    return "\(signature) silence \(seconds(silence))\(frames)\n"
  }

  /// The line that says when a trace began, since 1970, UTC, with its line end.
  public static func began(_ time: Duration) -> String { "\(beganMark) \(seconds(time))\n" }

  /// The line of a record, with its line end; two, if it tells of lost bytes too, and none if it has nothing to tell.
  public static func line(_ record: TraceRecord) -> String {
    let loss = record.lostBytes > 0 ? "\(lossMark) \(seconds(record.time)) \(record.lostBytes)\n" : ""
    guard !record.bytes.isEmpty else { return loss }
    var line = loss + seconds(record.time)
    line += record.direction == .fromDevice ? " < " : " > "
    line.reserveCapacity(line.utf8.count + 2 * record.bytes.count + 1)
    for byte in record.bytes {
      line.unicodeScalars.append(digit(byte >> 4))
      line.unicodeScalars.append(digit(byte & 0xF))
    }
    return line + "\n"
  }

  /// Reads a line without its line end. Throws `badData` when it is no line of a recording.
  public static func parse(_ line: some StringProtocol) throws(AccessoryError) -> Line {
    if line.hasPrefix("#accessory-bridge-recording ") {
      let words = line.split(separator: " ")
      guard words.count == 4 || words.count == 6 && words[4] == "frames", words[1] == "1", words[2] == "silence",
        let silence = duration(words[3]),
        let framing = words.count == 4 ? .af1 : TraceFraming(name: words[5])
      else { throw AccessoryError(.badData, "this recording is of a form that this version doesn't know") }
      return .start(silence: silence, framing: framing)
    }
    if line.hasPrefix(lossMark + " ") { return loss(line) }
    if line.hasPrefix(beganMark + " ") {
      // A line of another form is a comment.
      return duration(line.dropFirst(beganMark.count + 1)).map { .began($0) } ?? .remark
    }
    if line.isEmpty || line.hasPrefix("#") { return .remark }
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let time = duration(words[0]), words[1] == "<" || words[1] == ">",
      let bytes = bytes(words[2]), !bytes.isEmpty
    else { throw AccessoryError(.badData, "not a record: time, < or >, and hexadecimal were expected") }
    return .record(TraceRecord(time: time, direction: words[1] == "<" ? .fromDevice : .toDevice, bytes: bytes))
  }

  private static let lossMark = "#lost"
  private static let beganMark = "#began"

  /// What a line says of lost bytes; nil when it is a comment.
  private static func loss(_ line: some StringProtocol) -> Line {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let time = duration(words[1]), let count = Int(words[2]), count > 0 else { return .remark }
    return .record(TraceRecord(time: time, direction: .fromDevice, bytes: [], lostBytes: count))
  }

  private static func digit(_ value: UInt8) -> Unicode.Scalar {
    Unicode.Scalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
  }

  /// Seconds with nine decimals; 0 for what lies before the beginning, and no more than a recording can have.
  public static func seconds(_ time: Duration) -> String {
    let all = min(max(0, time.inNanoseconds), Int64(UInt32.max) * 1_000_000_000 + 999_999_999)
    let nanoseconds = String(all % 1_000_000_000)
    return "\(all / 1_000_000_000)." + String(repeating: "0", count: 9 - nanoseconds.utf8.count) + nanoseconds
  }

  private static func duration(_ text: some StringProtocol) -> Duration? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 9, let seconds = UInt32(parts[0]), let nanoseconds = UInt32(parts[1])
    else { return nil }
    return .seconds(Int64(seconds)) + .nanoseconds(Int64(nanoseconds))
  }

  private static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
