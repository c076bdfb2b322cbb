// SPDX-License-Identifier: Apache-2.0

/// A queue for calls on one device that may block: opening, configuring, closing. Each device has its own, so that a
/// device that hangs doesn't delay others. At most 64 threads run all these queues. Descriptors aren't read or written
/// on these queues.
package struct SetupQueue: Sendable {
  private let queue = DispatchExecutor(on: threads)
  private static let threads = WorkerThreads(name: "accessory-setup", limit: 64) { QuietTasks.submit($0) }

  /// A queue for one device. The label only documents the call.
  package init(label: String) {}

  /// Runs `body` after the jobs that were added before, and suspends the calling task until `body` has returned.
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

  /// Runs `body` on the calling thread if the queue is idle, and otherwise as `run` does. For a body that can't block:
  /// it saves two changes of threads.
  package func runAtOnce<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    var result: Result<Value, Failure>?
    _ = queue.runIfIdle {
      do throws(Failure) { result = .success(try body()) } catch { result = .failure(error) }
    }
    if let result { return try result.get() }
    return try await run(body)
  }

  /// Runs `body` after the jobs that were added before.
  package func post(_ body: @escaping @Sendable () -> Void) { queue.post(body) }
}
