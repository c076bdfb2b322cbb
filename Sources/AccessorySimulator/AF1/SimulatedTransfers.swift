// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The files that a pretended accessory was sent: those that are whole, and the one that is on its way.
///
/// It takes pieces in order only. One that doesn't begin where the last ended is answered with where it should have
/// begun, and forgotten. What has arrived stays, so that the same file may go on there after an interruption.
struct SimulatedTransfers: Sendable {
  /// What has become of a file.
  enum News: Sendable, Hashable {
    /// It has arrived, with the size and the checksum that were announced.
    case stored(name: String, size: Int, checksum: UInt32)
    /// It has arrived otherwise than announced.
    case damaged(name: String)
    /// The host gave it up when so many bytes had arrived.
    case aborted(name: String, at: Int)
  }

  private struct File: Sendable {
    var announcement: AF1TransferBeginRequest
    /// As they came, so that what is there is not moved for each.
    var pieces: [[UInt8]] = []
    var count = 0
    var checksum = CRC32(.crc32ISOHDLC)
  }

  /// Bytes of the largest file that it takes.
  static let largestFile = 64 << 20
  /// Files that it keeps; the oldest makes room.
  static let storedLimit = 8

  private(set) var news: [News] = []
  private var stored: [File] = []
  private var current: File?
  /// Whether the host has announced `current` since it was switched on.
  private var isOpen = false
  private let pieceSize: Int
  private let keepsParts: Bool

  /// `largestPayload` is what it takes at a time; unless it `keepsParts`, a restart loses what is on its way.
  init(largestPayload: Int, keepsParts: Bool) {
    pieceSize = max(1, largestPayload - 4)
    self.keepsParts = keepsParts
  }

  /// The bytes of the newest file of this name that has arrived.
  func file(named name: String) -> [UInt8]? {
    stored.last { $0.announcement.name == name }.map { Array($0.pieces.joined()) }
  }

  /// What has happened since the last call.
  mutating func takeNews() -> [News] {
    if news.isEmpty { return [] }
    defer { news = [] }
    return news
  }

  /// It was switched off and on.
  mutating func restart() {
    isOpen = false
    if !keepsParts { current = nil }
  }

  // MARK: - Requests

  mutating func begin(_ announcement: AF1TransferBeginRequest) throws(Refusal) -> AF1TransferBeginReply {
    guard announcement.size <= Self.largestFile else { throw Refusal(reason: .tooLong) }
    if current?.announcement != announcement {
      // One that is whole need not come again: perhaps only the answer to its end was lost.
      current = stored.last { $0.announcement == announcement } ?? File(announcement: announcement)
    }
    isOpen = true
    return AF1TransferBeginReply(
      chunkSize: UInt16(min(pieceSize, Int(UInt16.max))), resumeOffset: UInt32(current?.count ?? 0))
  }

  mutating func take(_ piece: AF1TransferDataRequest) throws(Refusal) -> AF1TransferDataReply {
    guard isOpen, var file = current else { throw Refusal(reason: .badArgument) }
    guard piece.data.count <= pieceSize else { throw Refusal(reason: .tooLong) }
    guard Int(piece.offset) == file.count else { return AF1TransferDataReply(nextOffset: UInt32(file.count)) }
    guard file.count + piece.data.count <= Int(file.announcement.size) else { throw Refusal(reason: .badArgument) }
    guard !piece.data.isEmpty else { return AF1TransferDataReply(nextOffset: UInt32(file.count)) }
    current = nil  // or the list of pieces would be copied
    file.pieces.append(piece.data)
    file.count += piece.data.count
    file.checksum.update(piece.data.span.bytes)
    current = file
    return AF1TransferDataReply(nextOffset: UInt32(file.count))
  }

  mutating func end() throws(Refusal) -> AF1TransferEndReply {
    guard isOpen, let file = current else { throw Refusal(reason: .badArgument) }
    let announcement = file.announcement
    guard file.count == Int(announcement.size) else { return .sizeDiffers }
    guard file.checksum.value == announcement.checksum else {
      // What is wrong can't be gone on with.
      current = nil
      isOpen = false
      news.append(.damaged(name: announcement.name))
      return .checksumDiffers
    }
    if !stored.contains(where: { $0.announcement == announcement }) {
      if stored.count == Self.storedLimit { stored.removeFirst() }
      stored.append(file)
      news.append(.stored(name: announcement.name, size: file.count, checksum: announcement.checksum))
    }
    return .stored
  }

  mutating func abort() {
    if isOpen, let file = current, !stored.contains(where: { $0.announcement == file.announcement }) {
      news.append(.aborted(name: file.announcement.name, at: file.count))
    }
    current = nil
    isOpen = false
  }

  /// Why a request isn't carried out.
  struct Refusal: Error {
    let reason: AF1RefusalReason
  }
}
