// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The text format of recordings of traffic.
///
/// Each record is a line: seconds since the trace began with nine decimals, `<` for bytes from the device or `>` for
/// bytes to it, and the bytes in hexadecimal:
///
///     #accessory-bridge-recording 1 silence 0.050000000
///     0.000412000 > 0ff01100172a0400095f78563412d2876daf
///     0.000893521 < 0ff01200172a080084d401eeffc0001001009bd3fbf2
///
/// The first line begins a trace. `silence` is the pause in seconds after which an unfinished frame no longer delays
/// the bytes after it. ` frames NAME` after it names the driver whose frames pass, or is ` frames none` when that is
/// unknown; without it, the frames are those of the driver `framed`. When the recorder had to drop bytes, a line before the next record
/// has the time and the number of these bytes. Older versions read that line as a comment:
///
///     #lost 0.904100000 73211
///
/// After the first line, another line says when the trace began, in seconds since 1970, UTC. Version 0.1 didn't write
/// this line, and reads it as a comment:
///
///     #began 1795337583.125000000
///
/// If the accessory was unplugged and plugged in again while the recorder ran, two lines give the times. Older versions
/// read these lines as comments:
///
///     #unplugged 5.904100000
///     #plugged 7.250000000
///
/// What happened on the way of the bytes, such as a connection on the air that was made, is a line of its own, which older
/// versions read as a comment:
///
///     #note 0.351200000 connected by hci0
///
/// A file may contain several traces, one after another, because recording again appends to the file. Other lines that
/// begin with `#` are comments. A record is written in one piece with its line end. A line without a line end was cut
/// off, so a file that was cut anywhere can be read up to its last whole record.
public enum Recording {
  /// The meaning of a line.
  public enum Line: Sendable, Hashable {
    /// A trace begins.
    case start(silence: Duration, framing: TraceFraming = .unnamed)
    /// When the trace began: the time since 1970, UTC.
    case began(Duration)
    /// Bytes that passed, or were lost.
    case record(TraceRecord)
    /// The accessory was unplugged, at this time since the trace began.
    case unplugged(Duration)
    /// The accessory was plugged in again, at this time since the trace began.
    case plugged(Duration)
    /// A comment, or an empty line.
    case comment
  }

  /// The first bytes of a recording.
  public static let signature = "#accessory-bridge-recording 1"

  /// The line that begins a trace, with its line end. For `TraceFraming.unnamed` it names no frames, as in the
  /// first version of the format.
  public static func start(silence: Duration, framing: TraceFraming = .unnamed) -> String {
    let frames = framing == .unnamed ? "" : " frames \(framing.name)"
    return "\(signature) silence \(seconds(silence))\(frames)\n"
  }

  /// The line that says when a trace began (the time since 1970, UTC), with its line end.
  public static func began(_ time: Duration) -> String { "\(beganMark) \(seconds(time))\n" }

  /// The line that says when the accessory was unplugged, with its line end.
  public static func unplugged(_ time: Duration) -> String { "\(unpluggedMark) \(seconds(time))\n" }

  /// The line that says when the accessory was plugged in again, with its line end.
  public static func plugged(_ time: Duration) -> String { "\(pluggedMark) \(seconds(time))\n" }

  /// The line of a record, with its line end. Two lines if bytes were lost as well; empty if the record has neither
  /// bytes nor losses nor a note.
  public static func line(_ record: TraceRecord) -> String {
    var loss = record.lostBytes > 0 ? "\(lossMark) \(seconds(record.time)) \(record.lostBytes)\n" : ""
    if let note = record.note { loss += "\(noteMark) \(seconds(record.time)) \(note)\n" }
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

  /// Reads a line without its line end. Throws `badData` when it isn't a line of a recording.
  public static func parse(_ line: some StringProtocol) throws(AccessoryError) -> Line {
    if line.hasPrefix("#accessory-bridge-recording ") {
      let words = line.split(separator: " ")
      guard words.count == 4 || words.count == 6 && words[4] == "frames", words[1] == "1", words[2] == "silence",
        let silence = duration(words[3]),
        let framing = words.count == 4 ? .unnamed : TraceFraming(name: words[5])
      else { throw AccessoryError(.badData, "this version can't read the format of this recording") }
      return .start(silence: silence, framing: framing)
    }
    if line.hasPrefix(lossMark + " ") { return loss(line) }
    if line.hasPrefix(beganMark + " ") {
      // A line of another form is a comment.
      return duration(line.dropFirst(beganMark.count + 1)).map { .began($0) } ?? .comment
    }
    if line.hasPrefix(unpluggedMark + " ") {
      return duration(line.dropFirst(unpluggedMark.count + 1)).map { .unplugged($0) } ?? .comment
    }
    if line.hasPrefix(pluggedMark + " ") {
      return duration(line.dropFirst(pluggedMark.count + 1)).map { .plugged($0) } ?? .comment
    }
    if line.hasPrefix(noteMark + " ") { return note(line.dropFirst(noteMark.count + 1)) }
    if line.isEmpty || line.hasPrefix("#") { return .comment }
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let time = duration(words[0]), words[1] == "<" || words[1] == ">",
      let bytes = bytes(words[2]), !bytes.isEmpty
    else { throw AccessoryError(.badData, "not a record: time, < or >, and hexadecimal were expected") }
    return .record(TraceRecord(time: time, direction: words[1] == "<" ? .fromDevice : .toDevice, bytes: bytes))
  }

  private static let lossMark = "#lost"
  private static let beganMark = "#began"
  private static let unpluggedMark = "#unplugged"
  private static let pluggedMark = "#plugged"
  private static let noteMark = "#note"

  /// The meaning of a line about what happened; a comment when the line has another form.
  private static func note(_ rest: some StringProtocol) -> Line {
    let parts = rest.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let time = duration(parts[0]), !parts[1].isEmpty else { return .comment }
    return .record(TraceRecord(time: time, note: String(parts[1])))
  }

  /// The meaning of a line about lost bytes; a comment when the line has another form.
  private static func loss(_ line: some StringProtocol) -> Line {
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, let time = duration(words[1]), let count = Int(words[2]), count > 0 else { return .comment }
    return .record(TraceRecord(time: time, direction: .fromDevice, bytes: [], lostBytes: count))
  }

  private static func digit(_ value: UInt8) -> Unicode.Scalar {
    Unicode.Scalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
  }

  /// Seconds with nine decimals. Negative times become 0, and longer times than a recording allows its longest one.
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
    // Recordings have small letters alone.
    text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } ? nil : Hexadecimal.bytes(text)
  }
}
