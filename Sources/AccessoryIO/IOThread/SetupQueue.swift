// SPDX-License-Identifier: Apache-2.0

/// Where the calls on one device that may block are made: opening, configuring, closing. One queue a device, so that
/// a sick one holds up nobody else, as long as there are fewer than 64 of them: so many threads serve these queues at
/// most. Descriptors are not read or written here.
package struct SetupQueue: Sendable {
  private let queue = DispatchExecutor(on: threads)
  private static let threads = WorkerThreads(name: "accessory-setup", limit: 64) { QuietTasks.submit($0) }

  /// A queue for the device that `label` names.
  package init(label: String) {}

  /// Runs `body` after what was given before, and waits for it without blocking the caller's thread.
  package func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await withCheckedContinuation { continuation in
      queue.post {
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
        continuation.resume(returning: result)
      }
    }.get()
  }

  /// Runs `body` after what was given before.
  package func post(_ body: @escaping @Sendable () -> Void) { queue.post(body) }
}
