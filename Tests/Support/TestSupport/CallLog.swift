// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

#if DEBUG
  import AccessoryIO
  import SystemPackage

  /// The system calls that the module makes while `record` runs, and the way to make them fail.
  ///
  /// There is one interception in a process: suites that use this are serialized together.
  package final class CallLog: Sendable {
    /// All calls so far, in order.
    package let calls = Watched<[SystemCall.Invocation]>([])
    private let counts = Locked<[CInt: [SystemCall: Int]]>([:])
    private let decide: @Sendable (SystemCall.Invocation, _ nth: Int) -> Errno?

    private init(_ decide: @escaping @Sendable (SystemCall.Invocation, _ nth: Int) -> Errno?) { self.decide = decide }

    /// Runs `body` with every call logged. `decide` sees each call before it is made, with the number of calls of the
    /// same kind on the same descriptor before it, and may return the error that it fails with.
    @discardableResult
    package static func record<Value>(
      deciding decide: @escaping @Sendable (SystemCall.Invocation, _ nth: Int) -> Errno? = { _, _ in nil },
      _ body: (CallLog) async throws -> Value
    ) async throws -> Value {
      let log = CallLog(decide)
      SystemCall.Interception.install { log.note($0) }
      defer { SystemCall.Interception.install(nil) }
      return try await body(log)
    }

    private func note(_ call: SystemCall.Invocation) -> Errno? {
      let nth = counts.withLock { counts in
        defer { counts[call.descriptor, default: [:]][call.call, default: 0] += 1 }
        return counts[call.descriptor]?[call.call] ?? 0
      }
      calls.update { $0.append(call) }
      return decide(call, nth)
    }

    /// Waits for a call, which may have been made already, and returns it.
    @discardableResult
    package func first(
      _ call: SystemCall, on descriptor: CInt? = nil, after skipped: Int = 0
    ) async throws -> SystemCall.Invocation {
      let matches = { @Sendable (made: SystemCall.Invocation) in
        made.call == call && (descriptor == nil || made.descriptor == descriptor)
      }
      let calls = try await calls.wait { $0.count(where: matches) > skipped }
      return calls.filter(matches)[skipped]
    }

    /// How often a descriptor was closed since `opening`, the first call on it: the number may have had an owner before.
    package func closeCount(of descriptor: CInt, since opening: SystemCall = .ioctl) -> Int {
      let calls = calls.value.drop { $0.call != opening || $0.descriptor != descriptor }
      return calls.count { $0.call == .close && $0.descriptor == descriptor }
    }

    /// Waits until a descriptor is closed after `opening`, the first call on it; returns the call.
    @discardableResult
    package func close(of descriptor: CInt, since opening: SystemCall = .ioctl) async throws -> SystemCall.Invocation {
      let find = { @Sendable (calls: [SystemCall.Invocation]) in
        calls.drop { $0.call != opening || $0.descriptor != descriptor }
          .first { $0.call == .close && $0.descriptor == descriptor }
      }
      let calls = try await calls.wait { find($0) != nil }
      return find(calls)!
    }

    /// How often a call was made.
    package func count(_ call: SystemCall, on descriptor: CInt? = nil) -> Int {
      calls.value.count { $0.call == call && (descriptor == nil || $0.descriptor == descriptor) }
    }
  }
#endif
