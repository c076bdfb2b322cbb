// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// Each call fails in each way that the manual pages allow, and in some that they don't: it is retried, or there is
  /// an error of the right kind; nothing is lost and nothing leaks.
  @Suite struct ErrorInjectionTests {
    static let errnos = [EINTR, EAGAIN, EIO, ENODEV, EACCES, ENOMEM].map { Errno(rawValue: $0) }

    /// Every descriptor that was opened meanwhile is closed again.
    private func expectNothingLeaks(_ body: () async throws -> Void) async throws {
      _ = IOThread.shared
      let before = ThisProcess.descriptors
      try await body()
      try await ThisProcess.waitForNoDescriptors(except: before)
    }

    // MARK: - Opening

    @Test(arguments: errnos) func anyFailedCallOfOpeningLeaksNothing(_ errno: Errno) async throws {
      var isThroughAll = false
      for number in 0..<40 where !isThroughAll {
        try await expectNothingLeaks {
          let terminal = try openPseudoTerminal()
          let before = try terminal.termios2()
          let calls = Atomic(0)
          let isOpening = Atomic(true)
          try await CallLog.record(deciding: { call, _ in
            guard isOpening.load(ordering: .relaxed), call.call != .epollWait, call.call != .close else { return nil }
            return calls.add(1, ordering: .relaxed).oldValue == number ? errno : nil
          }) { log in
            switch await opening(.init(path: terminal.path)) {
            case .success(let transport):
              isOpening.store(false, ordering: .relaxed)
              if calls.load(ordering: .relaxed) <= number {
                _ = transport.output.offer([5])
                let arrived = try await terminal.read(1)
                #expect(arrived == [5])
                isThroughAll = true
              }
              // Otherwise it was retried, or of no importance, or comes as the end of the transport.
              await transport.close()
            case .failure(let error):
              #expect(error.kind == AccessoryError.Kind(device: errno), "\(error)")
              #expect(errno != .interrupted, "retried")
              #expect(error.message.contains(terminal.path))
            }
          }
          #expect(try terminal.termios2() == before, "put back after call \(number)")
          #expect(try !terminal.isExclusive())
        }
      }
      #expect(isThroughAll)
    }

    @Test(arguments: errnos) func failedCallsOfMakingAPseudoTerminalLeakNothing(_ errno: Errno) async throws {
      var isThroughAll = false
      for number in 0..<40 where !isThroughAll {
        try await expectNothingLeaks {
          let calls = Atomic(0)
          try await CallLog.record(deciding: { call, _ in
            guard call.call != .epollWait, call.call != .close, call.call != .epollControl else { return nil }
            return calls.add(1, ordering: .relaxed).oldValue == number ? errno : nil
          }) { log in
            let made: Result<PseudoTerminal, AccessoryError>
            do throws(AccessoryError) { made = .success(try await PseudoTerminal.open()) } catch {
              made = .failure(error)
            }
            switch made {
            case .success(let pair):
              if calls.load(ordering: .relaxed) <= number { isThroughAll = true }
              await pair.transport.close()
            case .failure(let error):
              #expect(error.kind == AccessoryError.Kind(errno))
              #expect(errno != .interrupted, "retried")
              #expect(error.message.hasPrefix("making a pseudo-terminal: "))
            }
          }
        }
      }
      #expect(isThroughAll)
    }

    @Test(arguments: errnos) func failedCallsOfMakingAnEventQueueLeakNothing(_ errno: Errno) async throws {
      for call in [SystemCall.epollCreate, .eventfd, .timerfd, .epollControl] {
        try await expectNothingLeaks {
          try await CallLog.record(deciding: { made, nth in made.call == call && nth == 0 ? errno : nil }) { log in
            let failure = Result { () throws(Errno) in try EpollQueue() }
            switch failure {
            case .success: #expect(errno == .interrupted)
            case .failure(let error):
              #expect(error == errno)
              #expect(errno != .interrupted, "retried")
            }
          }
        }
      }
    }

    @Test(arguments: errnos) func aFailedSignalDescriptorFailsSignals(_ errno: Errno) async throws {
      guard errno != .interrupted else { return }  // it would last for the life of the process
      try await CallLog.record(deciding: { call, _ in call.call == .signalfd ? errno : nil }) { log in
        #expect(throws: errno) { try Signals([SIGUSR2]) { _ in } }
      }
    }

    // MARK: - Reading and writing

    /// Opens a terminal whose `call` fails once with `errno`, when `arm` was called.
    private func withFault(
      _ call: SystemCall, _ errno: Errno,
      _ body: (TestTerminal, DescriptorTransport, _ arm: @Sendable () -> Void) async throws -> Void
    ) async throws {
      try await expectNothingLeaks {
        let terminal = try openPseudoTerminal()
        let watched = Atomic<CInt>(-1)
        let isArmed = Atomic(false)
        try await CallLog.record(deciding: { made, _ in
          guard made.call == call, made.descriptor == watched.load(ordering: .sequentiallyConsistent),
            isArmed.exchange(false, ordering: .sequentiallyConsistent)
          else { return nil }
          return errno
        }) { log in
          let transport = try await DescriptorTransport.open(.init(path: terminal.path))
          watched.store(try await log.first(.ioctl).descriptor, ordering: .sequentiallyConsistent)
          try await body(terminal, transport) { isArmed.store(true, ordering: .sequentiallyConsistent) }
          await transport.close()
          let isStillArmed = isArmed.load(ordering: .sequentiallyConsistent)
          #expect(!isStillArmed, "the call was made")
          let descriptor = watched.load(ordering: .sequentiallyConsistent)
          #expect(log.closeCount(of: descriptor) == 1)
        }
      }
    }

    @Test(arguments: [Errno.interrupted, .wouldBlock], [SystemCall.read, .write])
    func aCallToBeMadeAgainLosesNothing(_ errno: Errno, _ call: SystemCall) async throws {
      try await withFault(call, errno) { terminal, transport, arm in
        let reader = InputReader(transport.input)
        let writer = OutputWriter(transport.output)
        for round in 0..<20 {
          let bytes = pattern(1_000 + round)
          arm()
          async let sending: Void = terminal.write(bytes)
          async let writing: Void = writer.write(bytes)
          #expect(try await reader.read(bytes.count) == bytes)
          #expect(try await terminal.read(bytes.count) == bytes)
          try await sending
          try await writing
        }
      }
    }

    @Test(arguments: [EIO, ENODEV, ENXIO, EACCES, ENOMEM].map { Errno(rawValue: $0) })
    func aFailedReadIsOneEndBehindWhatWasRead(_ errno: Errno) async throws {
      try await withFault(.read, errno) { terminal, transport, arm in
        let reader = InputReader(transport.input)
        try await terminal.write([1, 2, 3])
        #expect(try await reader.read(3) == [1, 2, 3])
        arm()
        try await terminal.write([4])
        let ending = try await reader.readToEnd()
        #expect(ending.error?.kind == AccessoryError.Kind(device: errno))
        #expect(ending.error?.code == .errno(errno.rawValue))
        #expect(ending.error?.message.contains(terminal.path) == true)
        #expect(transport.output.offer([1]) == .closed(ending.error))
      }
    }

    @Test(arguments: [EIO, ENODEV, EPIPE, EACCES, ENOMEM].map { Errno(rawValue: $0) })
    func aFailedWriteIsOneEndBehindWhatHadArrived(_ errno: Errno) async throws {
      try await withFault(.write, errno) { terminal, transport, arm in
        let reader = InputReader(transport.input)
        try await terminal.write([1, 2, 3])
        #expect(try await reader.read(3) == [1, 2, 3])
        arm()
        _ = transport.output.offer([9])
        let ending = try await reader.readToEnd()
        #expect(ending.error?.kind == AccessoryError.Kind(device: errno))
        #expect(ending.error?.code == .errno(errno.rawValue))
        #expect(transport.output.offer([1]) == .closed(ending.error))
      }
    }

    @Test(arguments: [ENOMEM, ENOSPC].map { Errno(rawValue: $0) })
    func aWatchThatCanNotBeChangedIsAnEnd(_ errno: Errno) async throws {
      try await withFault(.epollControl, errno) { terminal, transport, arm in
        await IOThread.shared.barrier()  // watched by now
        arm()
        let reader = InputReader(transport.input)
        let writer = OutputWriter(transport.output)
        let error = await #expect(throws: AccessoryError.self) { try await writer.write(pattern(200_000)) }
        #expect(error?.kind == .ioFailure)
        let ending = try await reader.readToEnd()
        #expect(ending.error?.kind == .ioFailure)
        #expect(ending.error?.message.hasPrefix("watching \(terminal.path): ") == true)
      }
    }

    @Test(arguments: [Errno.interrupted, .noMemory, .ioError]) func aWaitThatFailsIsMadeAgain(_ errno: Errno)
      async throws
    {
      let terminal = try openPseudoTerminal()
      try await CallLog.record(deciding: { call, nth in call.call == .epollWait && nth % 3 == 1 ? errno : nil }) {
        log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let reader = InputReader(transport.input)
        for round in 0..<20 {
          try await terminal.write([UInt8(round)])
          #expect(try await reader.read(1) == [UInt8(round)])
        }
        await transport.close()
      }
    }
  }
}
