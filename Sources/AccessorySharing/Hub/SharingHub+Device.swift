// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension SharingHub {
  /// Opens the device, shares it until it is gone, and opens it again, until the task is cancelled or `retry` throws.
  ///
  /// `retry` is called with what `open` threw, or with the error with which the device ended, and returns when it is time to try
  /// again. Throws what `retry` throws, and `CancellationError`.
  public nonisolated func run(
    open: () async throws -> any Transport, retry: (any Error) async throws -> Void
  ) async throws {
    while true {
      try Task.checkCancellation()
      let failure: any Error
      do {
        let transport = try await open()
        failure = await share(transport) ?? AccessoryError.closed(transport.label)
      } catch {
        failure = error
      }
      try Task.checkCancellation()
      try await retry(failure)
    }
  }

  /// Shares a device until it is gone, or the task is cancelled; then it is closed.
  private nonisolated func share(_ transport: any Transport) async -> AccessoryError? {
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Task { await attach(transport) { continuation.resume(returning: $0) } }
      }
    } onCancel: {
      transport.beginClose()
    }
    await transport.close()
    return error
  }
}
