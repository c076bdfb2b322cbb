// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// Sends a file to an accessory, and can be resumed after an interruption.
///
/// The host announces the file's size, checksum and name, and the accessory answers with the number of bytes that it
/// already has of exactly this file. So a transfer resumes after an unplug, after a restart of the accessory, and in
/// another process. At the end the accessory compares the checksum of what has arrived with the announced one.
public struct AF1Transfer: FileTransfer {
  /// The file's contents.
  public let source: any FileSource
  /// The file's purpose.
  public let kind: FileKind
  /// The file's name in the announcement.
  public let path: String
  /// The announcement to the accessory; nil before the first `run`.
  public private(set) var announcement: AF1TransferBeginRequest?
  /// The number of bytes that the accessory has acknowledged.
  public private(set) var done = 0
  /// Whether the accessory has stored the whole file.
  public private(set) var isComplete = false
  /// How many times the transfer resumed in the middle of the file.
  public private(set) var resumptions = 0

  /// The file's size, in bytes.
  public var size: Int? { source.count }
  /// Always nil: AF1 compares `crc32` instead.
  public var md5: String? { nil }
  /// The CRC-32 of the file; nil before the first `run`.
  public var crc32: UInt32? { announcement?.checksum }

  /// The transfer fails after this many attempts in a row without progress.
  private static let fruitlessLimit = 4

  /// The most pieces in flight, whatever the accessory allows. The link's queue has room for twice as many, so requests
  /// of others can still wait there.
  private static let inFlightLimit = 32

  /// A file to be sent under this name, of at most 256 bytes in UTF-8.
  public init(_ source: any FileSource, kind: FileKind = .other, name: String) {
    self.source = source
    self.kind = kind
    path = name
  }

  /// Makes the announcement. Throws `misconfigured`, before the file is read, when the name can't be encoded or the
  /// file is larger than 4 GiB; and what reading the file throws.
  private func announce() async throws(AccessoryError) -> AF1TransferBeginRequest {
    guard let size = UInt32(exactly: source.count) else {
      throw AccessoryError(.misconfigured, "a file for an AF1 accessory has at most 4 GiB")
    }
    let wireKind: AF1TransferBeginRequest.Kind =
      switch kind {
      case .firmware: .firmware
      case .image: .image
      case .other: .other
      }
    var announcement = AF1TransferBeginRequest(kind: wireKind, size: size, checksum: 0, name: path)
    do throws(AF1PayloadError) { _ = try announcement.encoded() } catch {
      throw AccessoryError(.misconfigured, "the name of the file can't be sent to the accessory: \(error)")
    }
    announcement.checksum = try await source.checksum()
    return announcement
  }

  /// Sends the missing bytes. After an error it can be called again, also with an accessory that was opened anew.
  ///
  /// As many pieces are in flight as the link's pacing and the accessory allow. When the task is cancelled, this asks
  /// the accessory to forget the file, and waits for the reply within the usual timeout. Throws `refused`,
  /// `disconnected`, `timedOut`, `cancelled` (the task was cancelled, or the accessory closed), and `badData` when the
  /// accessory finds another checksum or size.
  public mutating func run(
    on accessory: any Accessory, progress: FileProgress? = nil
  ) async throws(AccessoryError) {
    if isComplete { return }
    guard let accessory = accessory.narrowed(to: AF1Accessory.self) else {
      throw AccessoryError(.unsupported, "\(accessory.label) doesn't speak AF1, so the file transfer can't continue")
    }
    let announcement: AF1TransferBeginRequest
    if let known = self.announcement { announcement = known } else { announcement = try await announce() }
    self.announcement = announcement
    var fruitless = 0
    var isAnew = false
    while !isComplete {
      let before = done
      let outcome = await attempt(announcement, on: accessory, progress)
      switch outcome {
      case .stored: isComplete = true
      case .wrong(let what):
        // The resumed part may belong to another file, or be damaged: sends the whole file once more.
        guard resumptions > 0, !isAnew else {
          throw AccessoryError(
            .badData,
            "\(accessory.label) received a file with another \(what): the file changed during the transfer, or was "
              + "damaged"
          )
        }
        isAnew = true
        _ = try await accessory.link.request(AF1Request(.transferAbort, largestReply: 0))
      case .failed(let error):
        if error.kind == .cancelled, Task.isCancelled {
          await Self.abort(on: accessory)
          throw error
        }
        // The accessory may have restarted and lost the announcement: announces the file again.
        fruitless = done > before ? 0 : fruitless + 1
        guard error.isTransient, fruitless < Self.fruitlessLimit else { throw error }
      }
    }
  }

  private enum Outcome {
    case stored
    /// The accessory found another "checksum" or "size".
    case wrong(String)
    case failed(AccessoryError)
  }

  private mutating func attempt(
    _ announcement: AF1TransferBeginRequest, on accessory: AF1Accessory, _ progress: FileProgress?
  ) async -> Outcome {
    do throws(AccessoryError) {
      let beginning = try await accessory.ask(
        .transferBegin, announcement, as: AF1TransferBeginReply.self, largestReply: 16)
      let exchange = accessory.link.exchange
      let pieceSize = min(Int(beginning.chunkSize), exchange.largestPayload - 4)
      guard pieceSize > 0, beginning.resumeOffset <= announcement.size else {
        throw AccessoryError(.badData, "\(accessory.label) sent an invalid reply to TRANSFER_BEGIN")
      }
      done = Int(clamping: beginning.resumeOffset)
      if done > 0 { resumptions += 1 }
      progress?(done, source.count)
      let window = TransferWindow(
        size: source.count, from: done, pieceSize: pieceSize,
        window: min(Self.inFlightLimit, exchange.window(overlapping: true)))
      let flight = TransferFlight(link: accessory.link, source: source, window: window)
      try await flight.run { acknowledged in
        done = acknowledged
        progress?(acknowledged, source.count)
      }
      return try await end(on: accessory)
    } catch {
      return .failed(error)
    }
  }

  private func end(on accessory: AF1Accessory) async throws(AccessoryError) -> Outcome {
    switch try await accessory.ask(.transferEnd, AF1Empty(), as: AF1TransferEndReply.self, largestReply: 16) {
    case .stored: .stored
    case .checksumDiffers: .wrong("checksum")
    case .sizeDiffers: .wrong("size")
    }
  }

  /// Asks the accessory to forget the file, in a task of its own, because a cancelled task can't send.
  private static func abort(on accessory: AF1Accessory) async {
    let link = accessory.link
    _ = await Task { try? await link.request(AF1Request(.transferAbort, largestReply: 0)) }.value
  }
}

extension AF1Accessory {
  /// The files that the accessory accepts.
  public var files: (any AccessoryFiles)? { AF1Files() }
}

private struct AF1Files: AccessoryFiles {
  func makeSendTransfer(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer { AF1Transfer(source, kind: kind ?? .other, name: path) }
}

extension AccessoryError {
  /// Whether announcing the file once more may help.
  fileprivate var isTransient: Bool {
    switch kind {
    case .timedOut: true
    case .refused:
      [AF1RefusalReason.badArgument, .busy, .payloadDamaged].contains { code == .refusal($0.rawValue) }
    default: false
    }
  }
}
