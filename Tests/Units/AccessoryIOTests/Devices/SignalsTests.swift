// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct SignalsTests {
    /// Two signals that would end the process, sent to a process of our own, whose main thread blocks nothing.
    @Test func signalsAreToldInsteadOfEndingTheProcess() async throws {
      let child = try ChildProcess("signals")
      #expect(try await child.readLine() == "\(SIGTERM)")
      #expect(try await child.readLine() == "\(SIGHUP)")
      #expect(try await child.wait() == 0)
    }

    @Test func aWatchThatFailsIsAnErrorAndLeavesNothing() async throws {
      try await withIOThread { io in
        await io.barrier()
        let before = ThisProcess.descriptors
        try await CallLog.record(deciding: { call, _ in call.call == .epollControl ? .noMemory : nil }) { _ in
          #expect(throws: Errno.noMemory) { _ = try Signals([SIGWINCH], io: io) { _ in } }
        }
        await io.barrier()
        #expect(ThisProcess.descriptors.isSubset(of: before), "nothing stays open")
        var action = sigaction()
        sigaction(SIGWINCH, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil, "the signal does what it did")
      }
    }

    /// Sent to the loop's own thread, and to the process.
    @Test func eachSignalComesOnceOnTheIOThread() async throws {
      try await withIOThread { io in
        let seen = Watched<[CInt]>([])
        _ = try Signals([SIGUSR1, SIGUSR2], io: io) { number in
          precondition(io.isCurrent)
          seen.update { $0.append(number) }
        }
        await io.barrier()
        for (number, send) in [
          (SIGUSR2, { @Sendable in io.post { pthread_kill(pthread_self(), SIGUSR2) } }),
          (SIGUSR1, { @Sendable in _ = kill(getpid(), SIGUSR1) }),
          (SIGUSR2, { @Sendable in _ = kill(getpid(), SIGUSR2) }),
        ] {
          let count = seen.value.count
          send()
          try await seen.wait { $0.count > count }
          #expect(seen.value.last == number)
        }
        await io.barrier()
        #expect(seen.value == [SIGUSR2, SIGUSR1, SIGUSR2])
      }
    }
  }
}
