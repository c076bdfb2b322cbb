// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore

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
    task = Task { gone(await listen(opening.received, arrived, stream)) }
  }

  /// To be called when the last piece was shown.
  func takeNext() { shown.yield() }

  func cancel() { task.cancel() }
}

private func listen(
  _ received: ReceivedBytes, _ arrived: @Sendable ([UInt8]) -> Void, _ shown: AsyncStream<Void>
) async -> AccessoryError? {
  var shown = shown.makeAsyncIterator()
  do throws(AccessoryError) {
    for try await bytes in received {
      arrived(bytes)
      _ = await shown.next()
    }
    return nil
  } catch {
    return error
  }
}
