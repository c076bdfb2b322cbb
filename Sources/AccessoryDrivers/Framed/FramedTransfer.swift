// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// A file on its way to an accessory, which may go on after an interruption.
///
/// The accessory says where it goes on: it is told size, checksum and name, and answers with how much it has of just that
/// file. So a transfer goes on after an unplug, after a restart of the accessory, and in another process. In the end the
/// accessory compares the checksum of what has arrived with that of the file.
public struct FramedTransfer: Sendable {
  /// What the file is for.
  public typealias Kind = AF1TransferBeginRequest.Kind

  /// What is sent.
  public let source: any TransferSource
  /// What the accessory is told of it.
  public let announcement: AF1TransferBeginRequest
  /// Bytes that the accessory is known to have.
  public private(set) var done = 0
  /// Whether all of it is stored.
  public private(set) var isComplete = false
  /// Times that it went on in the middle of the file.
  public private(set) var resumptions = 0

  /// Times that the accessory is told of the file without anything of it getting there, before that is an error.
  private static let fruitlessLimit = 4

  /// A file to be sent under this name, of at most 256 bytes. Reads it once, for the checksum. Throws `misconfigured` for
  /// a name that can't be told, or a file beyond 4 GiB; and what the source throws.
  public init(_ source: any TransferSource, kind: Kind, name: String) async throws(AccessoryError) {
    guard let size = UInt32(exactly: source.size) else {
      throw AccessoryError(.misconfigured, "a file for an AF1 accessory has at most 4 GiB")
    }
    self.source = source
    announcement = AF1TransferBeginRequest(
      kind: kind, size: size, checksum: try await source.checksum(), name: name)
    do throws(AF1PayloadError) { _ = try announcement.encoded() } catch {
      throw AccessoryError(.misconfigured, "the accessory can't be told this name of a file: \(error)")
    }
  }

  /// Sends what is missing. When this throws, it can be called again, also with an accessory that was opened anew.
  ///
  /// As many pieces are under way as the link's pacing and the accessory allow. When the task is cancelled, the accessory
  /// is told to forget the file, for which it has the usual time limit. Throws `refused`, `disconnected`, `timedOut`,
  /// `cancelled`, and `badData` when the accessory finds that the checksum differs.
  public mutating func run(
    on accessory: FramedAccessory, progress: TransferProgress? = nil
  ) async throws(AccessoryError) {
    if isComplete { return }
    var fruitless = 0
    var isAnew = false
    while !isComplete {
      let before = done
      let outcome = await attempt(on: accessory, progress)
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

  private mutating func attempt(on accessory: FramedAccessory, _ progress: TransferProgress?) async -> Outcome {
    do throws(AccessoryError) {
      let beginning = try await begin(on: accessory)
      let exchange = accessory.link.exchange
      let pieceSize = min(Int(beginning.chunkSize), exchange.largestPayload - 4)
      guard pieceSize > 0, beginning.resumeOffset <= announcement.size else {
        throw AccessoryError(.badData, "\(accessory.label) answers TRANSFER_BEGIN with something senseless")
      }
      done = Int(beginning.resumeOffset)
      if done > 0 { resumptions += 1 }
      progress?(done, source.size)
      let window = TransferWindow(
        size: source.size, from: done, pieceSize: pieceSize, window: exchange.window(overlapping: true))
      let flight = TransferFlight(link: accessory.link, source: source, window: window)
      try await flight.run { acknowledged in
        done = acknowledged
        progress?(acknowledged, source.size)
      }
      return try await end(on: accessory)
    } catch {
      return .failed(error)
    }
  }

  private func begin(on accessory: FramedAccessory) async throws(AccessoryError) -> AF1TransferBeginReply {
    try await accessory.ask(.transferBegin, announcement, as: AF1TransferBeginReply.self, largestReply: 16)
  }

  private func end(on accessory: FramedAccessory) async throws(AccessoryError) -> Outcome {
    switch try await accessory.ask(.transferEnd, AF1Empty(), as: AF1TransferEndReply.self, largestReply: 16) {
    case .stored: .stored
    case .checksumDiffers: .wrong("checksum")
    case .sizeDiffers: .wrong("size")
    }
  }

  /// Has the accessory forget the file, in a task that isn't cancelled.
  private static func abort(on accessory: FramedAccessory) async {
    let link = accessory.link
    _ = await Task { try? await link.request(AF1Request(.transferAbort, largestReply: 0)) }.value
  }
}

/// Is told how far a transfer is: bytes that are known to have arrived, and bytes in all.
public typealias TransferProgress = @Sendable (_ done: Int, _ total: Int) -> Void

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
