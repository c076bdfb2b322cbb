// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import FamilyAF1

/// The files that a simulated accessory receives: complete ones, and the current one.
///
/// Pieces are accepted only in order. A piece at another offset is dropped, and answered with the expected offset. What
/// has arrived is kept, so that the transfer of the same file can be resumed.
struct SimulatedTransfers: Sendable {
  /// The outcome of a transfer.
  enum News: Sendable, Hashable {
    /// The file was received, with the announced size and checksum.
    case stored(name: String, size: Int, checksum: UInt32)
    /// The file was received, but its checksum isn't the announced one.
    case damaged(name: String)
    /// The host aborted the transfer after this many bytes.
    case aborted(name: String, at: Int)
  }

  private struct File: Sendable {
    var announcement: AF1TransferBeginRequest
    /// The pieces as they arrived, so that appending one copies no other.
    var pieces: [[UInt8]] = []
    var count = 0
    var checksum = CRC32(.crc32ISOHDLC)
  }

  /// The size of the largest file that is accepted, in bytes.
  static let largestFile = 64 << 20
  /// The most files that are kept. The oldest is removed for a new one.
  static let storedLimit = 8

  private(set) var news: [News] = []
  private var stored: [File] = []
  private var current: File?
  /// Whether the host has announced the current file since the last restart.
  private var isOpen = false
  private let pieceSize: Int
  private let keepsParts: Bool

  /// `largestPayload` is the largest payload in bytes. Unless `keepsParts` is true, a restart loses the incomplete file.
  init(largestPayload: Int, keepsParts: Bool) {
    pieceSize = max(1, largestPayload - 4)
    self.keepsParts = keepsParts
  }

  /// The bytes of the newest received file with this name; nil when there is none.
  func file(named name: String) -> [UInt8]? {
    stored.last { $0.announcement.name == name }.map { Array($0.pieces.joined()) }
  }

  /// The outcomes since the last call.
  mutating func takeNews() -> [News] {
    if news.isEmpty { return [] }
    defer { news = [] }
    return news
  }

  /// Handles a restart of the accessory.
  mutating func restart() {
    isOpen = false
    if !keepsParts { current = nil }
  }

  // MARK: - Requests

  mutating func begin(_ announcement: AF1TransferBeginRequest) throws(Refusal) -> AF1TransferBeginReply {
    guard announcement.size <= Self.largestFile else { throw Refusal(reason: .tooLong) }
    if current?.announcement != announcement {
      // A complete file needn't be sent again: perhaps only the reply to TRANSFER_END was lost.
      current = stored.last { $0.announcement == announcement } ?? File(announcement: announcement)
    }
    isOpen = true
    return AF1TransferBeginReply(
      chunkSize: UInt16(min(pieceSize, Int(UInt16.max))), resumeOffset: UInt32(current?.count ?? 0))
  }

  mutating func take(_ piece: AF1TransferDataRequest) throws(Refusal) -> AF1TransferDataReply {
    guard isOpen, var file = current else { throw Refusal(reason: .badArgument) }
    guard piece.data.count <= pieceSize else { throw Refusal(reason: .tooLong) }
    guard Int(clamping: piece.offset) == file.count else { return AF1TransferDataReply(nextOffset: UInt32(file.count)) }
    guard file.count + piece.data.count <= Int(clamping: file.announcement.size) else {
      throw Refusal(reason: .badArgument)
    }
    guard !piece.data.isEmpty else { return AF1TransferDataReply(nextOffset: UInt32(file.count)) }
    current = nil  // without this, appending would copy the list of pieces
    file.pieces.append(piece.data)
    file.count += piece.data.count
    file.checksum.update(piece.data.span.bytes)
    current = file
    return AF1TransferDataReply(nextOffset: UInt32(file.count))
  }

  mutating func end() throws(Refusal) -> AF1TransferEndReply {
    guard isOpen, let file = current else { throw Refusal(reason: .badArgument) }
    let announcement = file.announcement
    guard file.count == Int(clamping: announcement.size) else { return .sizeDiffers }
    guard file.checksum.value == announcement.checksum else {
      // A damaged file can't be resumed.
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

  /// The reason for refusing a request.
  struct Refusal: Error {
    let reason: AF1RefusalReason
  }
}
