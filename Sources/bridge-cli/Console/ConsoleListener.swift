// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// Takes what an accessory sends, a piece at a time: the next when the last was shown.
struct ConsoleListener: Sendable {
  private let task: Task<Void, Never>
  private let shown: AsyncStream<Void>.Continuation

  /// Calls `arrived` with each piece, and `gone` once at the end: with nil when the session was closed.
  init(
    _ session: AccessorySession, arrived: @escaping @Sendable ([UInt8]) -> Void,
    gone: @escaping @Sendable (AccessoryError?) -> Void
  ) {
    let (stream, shown) = AsyncStream<Void>.makeStream()
    self.shown = shown
    task = Task { gone(await listen(session, arrived, stream)) }
  }

  /// The last piece was shown.
  func goOn() { shown.yield() }

  func cancel() { task.cancel() }
}

private func listen(
  _ session: AccessorySession, _ arrived: @Sendable ([UInt8]) -> Void, _ shown: AsyncStream<Void>
) async -> AccessoryError? {
  var shown = shown.makeAsyncIterator()
  do throws(AccessoryError) {
    for try await bytes in session.input {
      arrived(bytes)
      _ = await shown.next()
    }
    return nil
  } catch {
    return error
  }
}
