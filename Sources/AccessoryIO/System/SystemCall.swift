// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// The system calls of this module. They are repeated after `EINTR` where that is correct, and failures are thrown as
/// `Errno`.
///
/// Every call on a descriptor goes through this type, so that tests can see which thread makes it and can make it fail.
package enum SystemCall: String, Sendable, CaseIterable {
  case open, close, read, write, ioctl, flock, poll
  case epollCreate, epollControl, epollWait, eventfd, timerfd, signalfd, inotify
  case socket, bind, listen, accept, connect, getsockopt, setsockopt, getsockname

  /// Runs `body` until it doesn't fail with `EINTR`; -1 means failure, as in C.
  @inline(__always)
  static func run(
    _ call: SystemCall, on descriptor: CInt = -1, _ body: () -> CInt
  ) throws(Errno) -> CInt {
    try CInt(truncatingIfNeeded: runLong(call, on: descriptor) { Int(body()) })
  }

  /// Like `run`, for calls that return a count.
  @inline(__always)
  static func runLong(
    _ call: SystemCall, on descriptor: CInt = -1, _ body: () -> Int
  ) throws(Errno) -> Int {
    while true {
      guard try mayRun(call, on: descriptor) else { continue }
      let result = body()
      if result != -1 { return result }
      try failed()
    }
  }

  /// Like `run`, for calls that return a value besides their result. The value is nil only when the call fails.
  @inline(__always)
  static func run<Value>(
    _ call: SystemCall, on descriptor: CInt, _ body: () -> (result: CInt, value: Value?)
  ) throws(Errno) -> Value {
    while true {
      guard try mayRun(call, on: descriptor) else { continue }
      let (result, value) = body()
      if result != -1, let value { return value }
      try failed()
    }
  }

  /// Throws the error that a test injects. Returns false when that error is `EINTR`.
  @inline(__always)
  private static func mayRun(_ call: SystemCall, on descriptor: CInt) throws(Errno) -> Bool {
    #if DEBUG
      if let forced = Interception.outcome(of: call, on: descriptor) {
        if forced == .interrupted { return false }
        throw forced
      }
    #endif
    return true
  }

  /// Throws the errno of a failed call, unless it is `EINTR`.
  @inline(__always)
  private static func failed() throws(Errno) {
    let errno = Errno(rawValue: Glibc.errno)
    if errno != .interrupted { throw errno }
  }
}

// MARK: - Descriptors

extension SystemCall {
  static func open(_ path: String, _ flags: CInt) throws(Errno) -> FileDescriptor {
    FileDescriptor(rawValue: try run(.open) { shim_open(path, flags | O_CLOEXEC) })
  }

  static func newEventDescriptor() throws(Errno) -> FileDescriptor {
    FileDescriptor(
      rawValue: try run(.eventfd) { CLinuxShims.eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  /// Closes a descriptor. Not repeated after `EINTR`, because Linux has freed the descriptor number even then.
  static func close(_ descriptor: FileDescriptor) {
    #if DEBUG
      _ = Interception.outcome(of: .close, on: descriptor.rawValue)
    #endif
    _ = Glibc.close(descriptor.rawValue)
  }

  static func read(_ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    try runLong(.read, on: descriptor.rawValue) {
      Glibc.read(descriptor.rawValue, buffer.baseAddress, buffer.count)
    }
  }

  static func read(
    _ descriptor: FileDescriptor, at offset: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(Errno) -> Int {
    try runLong(.read, on: descriptor.rawValue) {
      Glibc.pread(descriptor.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
    }
  }

  /// True when the other end of `descriptor` is gone. Doesn't wait.
  static func hasHungUp(_ descriptor: FileDescriptor) -> Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: 0, revents: 0)
    let count = try? run(.poll, on: descriptor.rawValue) { Glibc.poll(&entry, 1, 0) }
    return count == 1 && CInt(entry.revents) & (POLLHUP | POLLERR) != 0
  }

  /// True when there is something to read at `descriptor`, or to accept; also when that can't be found out. Doesn't wait.
  static func hasInput(_ descriptor: FileDescriptor) -> Bool {
    var entry = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
    return (try? run(.poll, on: descriptor.rawValue) { Glibc.poll(&entry, 1, 0) }) != 0
  }

  static func write(_ descriptor: FileDescriptor, _ buffer: UnsafeRawBufferPointer) throws(Errno) -> Int {
    try runLong(.write, on: descriptor.rawValue) {
      Glibc.write(descriptor.rawValue, buffer.baseAddress, buffer.count)
    }
  }
}

#if DEBUG
  import Synchronization

  extension SystemCall {
    /// A system call that is about to be made.
    package struct Invocation: Sendable {
      /// The kind of call.
      package let call: SystemCall
      /// The descriptor, or -1 for a call without one.
      package let descriptor: CInt
      /// The kernel's id of the calling thread.
      package let thread: CInt
    }

    /// In debug builds only: lets a test observe system calls and make them fail.
    package enum Interception {
      private static let isOn = Atomic<Bool>(false)
      /// A closure by itself in a generic value is wrapped once more at each access, until its call overflows the stack.
      private struct Observer: Sendable { var body: (@Sendable (Invocation) -> Errno?)? }
      private static let observer = Locked(Observer())

      /// Installs `body`, which is called before each system call and may return the error with which the call fails;
      /// nil removes it.
      package static func install(_ body: (@Sendable (Invocation) -> Errno?)?) {
        observer.withLock { $0.body = body }
        isOn.store(body != nil, ordering: .sequentiallyConsistent)
      }

      static func outcome(of call: SystemCall, on descriptor: CInt) -> Errno? {
        guard isOn.load(ordering: .relaxed) else { return nil }
        let body = observer.withLock { $0.body }
        return body?(Invocation(call: call, descriptor: descriptor, thread: shim_gettid()))
      }
    }
  }
#endif
