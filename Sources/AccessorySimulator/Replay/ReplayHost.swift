// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Compares the bytes that a host sends with the bytes that the recorded host sent.
///
/// The bytes are compared as one stream, so the sizes of single writes don't matter. Message numbers that the host
/// chooses are accepted with any value, and are stored for the replies.
struct ReplayHost: Sendable {
  /// The bytes of one step of the recording, as a range of `stream`.
  private struct Record: Sendable {
    var time: Duration
    var range: Range<Int>
  }

  /// The reason why a part of the stream ends.
  private enum Barrier: Sendable { case unplug, loss, end }

  private let numbering: ReplayNumbering
  /// Whether the host may send more bytes after the end of the recording.
  private let mayGoOn: Bool
  private var stream: [UInt8] = []
  private var records: [Record] = []
  private var frames: [NumberedFrame] = []
  /// The offset at which each part of the stream ends, and why it ends.
  private var barriers: [(end: Int, barrier: Barrier)] = []

  /// The number of bytes that were received so far and equal the recorded ones.
  private(set) var matchedCount = 0
  private var barrier = 0
  private var record = 0
  private var frame = 0
  /// The bytes received of the current frame and of the current record. Of the record, at most `shownLimit` bytes are
  /// stored.
  private var gotOfFrame: [UInt8] = []
  private var gotOfRecord: [UInt8] = []
  /// The message numbers that this host uses; the keys are the recorded numbers.
  private(set) var numbers: [UInt16: UInt16] = [:]
  /// Whether received bytes are compared. False after a gap in the recording.
  private(set) var isChecking = true
  private(set) var difference: ReplayDifference?

  /// The most bytes of a difference that are stored for the report.
  static let shownLimit = 4_096

  /// Expects a host to send what the host of `script` sent.
  init(_ script: ReplayScript, _ numbering: ReplayNumbering, mayGoOn: Bool = false) {
    self.numbering = numbering
    self.mayGoOn = mayGoOn
    var start = 0
    for timed in script.steps {
      switch timed.step {
      case .host(let bytes):
        records.append(Record(time: timed.time, range: stream.count..<(stream.count + bytes.count)))
        stream += bytes
      case .unplug, .loss:
        endPart(from: start, by: timed.step == .unplug ? .unplug : .loss)
        start = stream.count
      case .accessory, .plugIn: break
      }
    }
    endPart(from: start, by: .end)
  }

  private mutating func endPart(from start: Int, by barrier: Barrier) {
    frames += numbering.frames(Array(stream[start...])).map { frame in
      var frame = frame
      frame.range = (frame.range.lowerBound + start)..<(frame.range.upperBound + start)
      frame.numberStart += start
      frame.free = frame.free.map { ($0.lowerBound + start)..<($0.upperBound + start) }
      return frame
    }
    barriers.append((stream.count, barrier))
  }

  /// The total number of bytes that the recorded host sent.
  var byteCount: Int { stream.count }

  /// Begins the next part of the stream, after an unplug or after a gap (`loss`).
  mutating func pass(loss: Bool) {
    barrier = min(barrier + 1, barriers.count - 1)
    if loss { isChecking = false }
  }

  /// The bytes that the host is expected to send next, up to the end of the current record, and their recorded time; nil
  /// when no bytes are expected.
  var awaited: (bytes: ArraySlice<UInt8>, time: Duration)? {
    guard isChecking, records.indices.contains(record) else { return nil }
    return (stream[matchedCount..<records[record].range.upperBound], records[record].time)
  }

  /// Compares received bytes with the recording. Only the first difference is reported; later bytes are appended to it.
  mutating func take(_ bytes: [UInt8]) {
    guard isChecking else { return }
    if difference != nil { return addToDifference(bytes[...]) }
    for (index, byte) in bytes.enumerated() {
      guard matchedCount < barriers[barrier].end else {
        switch barriers[barrier].barrier {
        case .loss: return
        case .end where mayGoOn: return
        case .unplug, .end: return differ(got: bytes[index...], reason: .tooMuch)
        }
      }
      guard isRight(byte) else { return differ(got: bytes[index...], reason: .otherBytes) }
      accept(byte)
    }
  }

  private func isRight(_ byte: UInt8) -> Bool {
    guard frames.indices.contains(frame), frames[frame].range.contains(matchedCount) else {
      return byte == stream[matchedCount]
    }
    if !frames[frame].isFree(matchedCount), byte != stream[matchedCount] { return false }
    guard matchedCount + 1 == frames[frame].range.upperBound else { return true }
    return numbering.isSound(gotOfFrame + [byte])
  }

  private mutating func accept(_ byte: UInt8) {
    if gotOfRecord.count < Self.shownLimit { gotOfRecord.append(byte) }
    if frames.indices.contains(frame), frames[frame].range.contains(matchedCount) {
      gotOfFrame.append(byte)
      if matchedCount + 1 == frames[frame].range.upperBound { endFrame() }
    }
    matchedCount += 1
    if matchedCount == records[record].range.upperBound {
      record += 1
      gotOfRecord.removeAll(keepingCapacity: true)
    }
  }

  private mutating func endFrame() {
    let place = frames[frame].numberStart - frames[frame].range.lowerBound
    numbers[frames[frame].number] = UInt16(gotOfFrame[place]) | UInt16(gotOfFrame[place + 1]) << 8
    frame += 1
    gotOfFrame.removeAll(keepingCapacity: true)
  }

  // MARK: - A difference

  private mutating func differ(got: ArraySlice<UInt8>, reason: ReplayDifference.Reason) {
    let isMore = reason == .tooMuch
    let range = isMore ? stream.count..<stream.count : records[record].range
    difference = ReplayDifference(
      reason: reason, offset: matchedCount, time: isMore ? nil : records[record].time,
      expected: isMore ? [] : Array(stream[matchedCount..<range.upperBound].prefix(Self.shownLimit)), got: [],
      expectedRecord: Array(stream[range].prefix(Self.shownLimit)), gotRecord: isMore ? [] : gotOfRecord)
    addToDifference(got)
  }

  private mutating func addToDifference(_ bytes: ArraySlice<UInt8>) {
    guard let count = difference?.got.count else { return }
    let kept = bytes.prefix(max(0, Self.shownLimit - count))
    difference?.got += kept
    difference?.gotRecord += kept
  }
}

/// The first difference between the bytes that a host sent and the recorded ones.
public struct ReplayDifference: Sendable, Hashable {
  /// The kinds of difference.
  public enum Reason: String, Sendable, Hashable {
    /// The host sent a byte that differs from the recorded one.
    case otherBytes = "other_bytes"
    /// The host sent more bytes than the recorded host sent until the end of the recording, or until the accessory was
    /// unplugged.
    case tooMuch = "too_much"
    /// The host sent nothing for the time allowed (`ReplaySimulator.Configuration.patience`).
    case silence
  }

  /// The kind of difference.
  public var reason: Reason
  /// The number of equal bytes before the difference, counted from the beginning of the recording.
  public var offset: Int
  /// The recorded time of the expected bytes; nil when no bytes were expected.
  public var time: Duration?
  /// The expected bytes from `offset` to the end of the record, at most 4096.
  public var expected: [UInt8]
  /// The bytes that the host sent from `offset` on, at most 4096.
  public var got: [UInt8]
  /// The whole expected record, at most 4096 bytes.
  public var expectedRecord: [UInt8]
  /// The bytes that the host sent instead of that record, including the equal ones at its beginning.
  public var gotRecord: [UInt8]
}
