// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

/// Suites that use what a process has once: its descriptors, its threads, the interception of system calls. They run
/// one after another. Each test's time limit is there to end a hang, not to measure.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(2))))
enum ProcessWide {}

/// Runs `body` with an I/O thread of its own, which ends afterwards.
func withIOThread<Value>(_ body: (IOThread) async throws -> Value) async throws -> Value {
  let io = IOThread(queue: try EpollQueue())
  defer { io.stop() }
  return try await body(io)
}

extension IOThread {
  /// Waits until the loop has done all that was posted before.
  func barrier() async {
    await withCheckedContinuation { continuation in
      post { continuation.resume() }
    }
  }
}

/// Bytes in which a loss, a repetition or a change of order shows: a counter with a period that is no power of two.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
  (start..<start + count).map { UInt8(truncatingIfNeeded: $0 % 251) }
}

/// What opening a terminal came to.
func opening(_ configuration: TerminalConfiguration) async -> Result<DescriptorTransport, AccessoryError> {
  do throws(AccessoryError) {
    return .success(try await DescriptorTransport.open(configuration))
  } catch {
    return .failure(error)
  }
}
