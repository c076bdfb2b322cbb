// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// A file on its way to an accessory, which may go on after an interruption.
///
/// The accessory says where it goes on: it is told size, checksum and name, and answers with how much it has of just that
/// file. So a transfer goes on after an unplug, after a restart of the accessory, and in another process. In the end the
/// accessory compares the checksum of what has arrived with that of the file.
public struct AF1Transfer: FileTransfer {
  /// What is sent.
  public let source: any FileSource
  /// What the file is for.
  public let kind: FileKind
  /// The name that the accessory is told.
  public let path: String
  /// What the accessory is told of it; nil before it begins.
  public private(set) var announcement: AF1TransferBeginRequest?
  /// Bytes that the accessory is known to have.
  public private(set) var done = 0
  /// Whether all of it is stored.
  public private(set) var isComplete = false
  /// Times that it went on in the middle of the file.
  public private(set) var resumptions = 0

  /// Bytes of it.
  public var size: Int? { source.count }
  /// The checksum is compared in the end; see `crc32`.
  public var md5: String? { nil }
  /// The checksum of the file; nil before it begins.
  public var crc32: UInt32? { announcement?.checksum }

  /// Times that the accessory is told of the file without anything of it getting there, before that is an error.
  private static let fruitlessLimit = 4

  /// Pieces under way at most, whatever the accessory allows: when others ask it something meanwhile, they wait in the
  /// link's queue, which has place for twice as many.
  private static let mostUnderWay = 32

  /// A file to be sent under this name, of at most 256 bytes.
  public init(_ source: any FileSource, kind: FileKind = .other, name: String) {
    self.source = source
    self.kind = kind
    path = name
  }

  /// What the accessory is told. Throws `misconfigured` for a name that can't be told, or a file beyond 4 GiB, before the
  /// file is read.
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
      throw AccessoryError(.misconfigured, "the accessory can't be told this name of a file: \(error)")
    }
    announcement.checksum = try await source.checksum()
    return announcement
  }

  /// Sends what is missing. When this throws, it can be called again, also with an accessory that was opened anew.
  ///
  /// As many pieces are under way as the link's pacing and the accessory allow. When the task is cancelled, the accessory
  /// is told to forget the file, for which it has the usual time limit. Throws `refused`, `disconnected`, `timedOut`,
  /// `cancelled` (the task was cancelled, or the accessory closed), and `badData` when the accessory finds that the
  /// checksum differs.
  public mutating func run(
    on accessory: any Accessory, progress: FileProgress? = nil
  ) async throws(AccessoryError) {
    if isComplete { return }
    guard let accessory = accessory as? AF1Accessory else {
      throw AccessoryError(.unsupported, "\(accessory.label) doesn't speak AF1, and can't go on with the file")
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
        // A part from an earlier time may have been another file's, or be damaged: once more, all of it.
        guard resumptions > 0, !isAnew else {
          throw AccessoryError(
            .badData,
            "\(accessory.label) finds that the file's \(what) differs: it has changed meanwhile, or was damaged")
        }
        isAnew = true
        _ = try await accessory.link.request(AF1Request(.transferAbort, largestReply: 0))
      case .failed(let error):
        if error.kind == .cancelled, Task.isCancelled {
          await Self.abort(on: accessory)
          throw error
        }
        // It may have restarted, and doesn't know what the pieces belong to.
        fruitless = done > before ? 0 : fruitless + 1
        guard error.isPassing, fruitless < Self.fruitlessLimit else { throw error }
      }
    }
  }

  private enum Outcome {
    case stored
    /// "checksum" or "size".
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
        throw AccessoryError(.badData, "\(accessory.label) answers TRANSFER_BEGIN with something senseless")
      }
      done = Int(beginning.resumeOffset)
      if done > 0 { resumptions += 1 }
      progress?(done, source.count)
      let window = TransferWindow(
        size: source.count, from: done, pieceSize: pieceSize,
        window: min(Self.mostUnderWay, exchange.window(overlapping: true)))
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

  /// Has the accessory forget the file, in a task that isn't cancelled.
  private static func abort(on accessory: AF1Accessory) async {
    let link = accessory.link
    _ = await Task { try? await link.request(AF1Request(.transferAbort, largestReply: 0)) }.value
  }
}

extension AF1Accessory {
  /// The files that it can be sent.
  public var files: (any AccessoryFiles)? { AF1Files() }
}

private struct AF1Files: AccessoryFiles {
  func sending(
    _ source: any FileSource, to path: String, as kind: FileKind?
  ) throws(AccessoryError) -> any FileTransfer { AF1Transfer(source, kind: kind ?? .other, name: path) }
}

extension AccessoryError {
  /// Whether to tell the accessory of the file once more may help.
  fileprivate var isPassing: Bool {
    switch kind {
    case .timedOut: true
    case .refused:
      [AF1RefusalReason.badArgument, .busy, .payloadDamaged].contains { code == .refusal($0.rawValue) }
    default: false
    }
  }
}
