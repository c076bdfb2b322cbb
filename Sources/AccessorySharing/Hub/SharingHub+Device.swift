// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

extension SharingHub {
  /// Opens the device, shares it until it is gone, and opens it again, until the task is cancelled or `retry` throws.
  ///
  /// `retry` is called with the error of `open`, or with the error that ended the device's transport, and returns when
  /// it is time to try again. Throws the error of `retry`, and `CancellationError`.
  public nonisolated func run(
    open: () async throws -> any Transport, retry: (any Error) async throws -> Void
  ) async throws {
    try await run(openShared: { SharedDevice(try await open()) }, retry: retry)
  }

  /// Opens the device, shares it until it is gone, and opens it again, like `run(open:retry:)`. The device is shared by frames if its
  /// `routing` isn't nil.
  public nonisolated func run(
    openShared: () async throws -> SharedDevice, retry: (any Error) async throws -> Void
  ) async throws {
    while true {
      try Task.checkCancellation()
      let failure: any Error
      do {
        let device = try await openShared()
        let end = await share(device)
        // The error that ended the device is passed to `retry` even if the task is cancelled.
        if end == nil { try Task.checkCancellation() }
        failure = end ?? AccessoryError.closed(device.transport.label)
      } catch {
        try Task.checkCancellation()
        failure = error
      }
      try await retry(failure)
    }
  }

  /// Shares a device until it is gone or the task is cancelled, and then closes it. Returns the error that ended the device; nil if it
  /// was closed without one.
  private nonisolated func share(_ device: SharedDevice) async -> AccessoryError? {
    let transport = device.transport
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Task { await attach(device) { continuation.resume(returning: $0) } }
      }
    } onCancel: {
      transport.beginClose()
    }
    await transport.close()
    return error
  }
}
