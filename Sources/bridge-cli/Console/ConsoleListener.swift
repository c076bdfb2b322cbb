// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryLink

/// Receives what an accessory sends, one piece at a time: the next piece is taken after `takeNext`.
struct ConsoleListener: Sendable {
  private let task: Task<Void, Never>
  private let shown: AsyncStream<Void>.Continuation

  /// Calls `arrived` with each piece, and `gone` once at the end: with the error that ended the input, or nil when it
  /// was closed.
  init(
    _ opening: ConsoleConnection, arrived: @escaping @Sendable ([UInt8]) -> Void,
    gone: @escaping @Sendable (AccessoryError?) -> Void
  ) {
    let (stream, shown) = AsyncStream<Void>.makeStream()
    self.shown = shown
    task = Task { gone(await listen(opening.source, arrived, stream)) }
  }

  /// To be called when the last piece was shown.
  func takeNext() { shown.yield() }

  func cancel() { task.cancel() }
}

private func listen(
  _ source: ConsoleConnection.Source, _ arrived: @Sendable ([UInt8]) -> Void, _ shown: AsyncStream<Void>
) async -> AccessoryError? {
  var shown = shown.makeAsyncIterator()
  do throws(AccessoryError) {
    switch source {
    case .session(let session):
      for try await bytes in session.input {
        arrived(bytes)
        _ = await shown.next()
      }
    case .trace(let pieces):
      for try await piece in pieces {
        guard piece.direction == ByteDirection.fromDevice.rawValue, let bytes = piece.bytes, !bytes.isEmpty else {
          continue
        }
        arrived(bytes)
        _ = await shown.next()
      }
    }
    return nil
  } catch {
    return error
  }
}
