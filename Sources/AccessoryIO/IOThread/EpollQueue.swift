// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// The kernel's epoll, with an eventfd that wakes it and a timerfd for deadlines.
package final class EpollQueue: EventQueue {
  private let epoll: FileDescriptor
  private let wakeUp: FileDescriptor
  private let timer: FileDescriptor

  /// The number of events that one wait fetches. Further events are fetched by the next wait.
  private static let batch = 64
  private static let wakeToken = UInt64.max
  private static let timerToken = UInt64.max - 1

  /// Opens the three descriptors. Throws `EMFILE` or `ENOMEM` when the system has none left.
  package init() throws(Errno) {
    let epoll = FileDescriptor(
      rawValue: try SystemCall.run(.epollCreate) { epoll_create1(CInt(EPOLL_CLOEXEC)) })
    var opened = [epoll]
    do throws(Errno) {
      let wakeUp = try SystemCall.newEventDescriptor()
      opened.append(wakeUp)
      let timer = FileDescriptor(
        rawValue: try SystemCall.run(.timerfd) {
          timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK))
        })
      opened.append(timer)
      // Edge-triggered: each write to the eventfd and each expiry is one event, and neither needs to be read.
      try Self.control(epoll, EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue | EPOLLET.rawValue, Self.wakeToken)
      try Self.control(epoll, EPOLL_CTL_ADD, timer, EPOLLIN.rawValue | EPOLLET.rawValue, Self.timerToken)
      (self.epoll, self.wakeUp, self.timer) = (epoll, wakeUp, timer)
    } catch {
      opened.forEach(SystemCall.close)
      throw error
    }
  }

  deinit {
    for descriptor in [timer, wakeUp, epoll] { SystemCall.close(descriptor) }
  }

  /// Watches a descriptor. Throws `EPERM` for a regular file, which epoll refuses.
  package func add(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno) {
    try Self.control(epoll, EPOLL_CTL_ADD, descriptor, interest.epollBits, token.rawValue)
  }

  /// Changes which events of a descriptor are reported.
  package func modify(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno) {
    try Self.control(epoll, EPOLL_CTL_MOD, descriptor, interest.epollBits, token.rawValue)
  }

  /// Stops watching.
  package func remove(_ descriptor: FileDescriptor) {
    // This also works when the device was removed. The call fails harmlessly if the descriptor isn't watched.
    try? Self.control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
  }

  private static func control(
    _ epoll: FileDescriptor, _ operation: CInt, _ descriptor: FileDescriptor, _ bits: UInt32, _ token: UInt64
  ) throws(Errno) {
    var event = epoll_event(events: bits, data: epoll_data_t(u64: token))
    _ = try SystemCall.run(.epollControl, on: descriptor.rawValue) {
      epoll_ctl(epoll.rawValue, operation, descriptor.rawValue, &event)
    }
  }

  /// Sets the timerfd to an absolute time. A time in the past fires at once.
  package func arm(_ deadline: MonotonicTime?) {
    var time = itimerspec()
    if let deadline {
      let nanoseconds = max(1, deadline.nanoseconds)  // 0 would disarm
      time.it_value.tv_sec = time_t(clamping: nanoseconds / 1_000_000_000)
      time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
    }
    _ = timerfd_settime(timer.rawValue, CInt(TFD_TIMER_ABSTIME), &time, nil)
  }

  /// Waits in `epoll_wait`.
  package func wait(into events: inout [QueuedEvent], poll: Bool) throws(Errno) {
    events.removeAll(keepingCapacity: true)
    let failure: Errno? = withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.batch) { fetched in
      // Newer headers of glibc don't take nil here. An allocation with room for at least one event has an address.
      guard let first = fetched.baseAddress else { return .invalidArgument }
      do throws(Errno) {
        let count = try SystemCall.run(.epollWait) {
          epoll_wait(epoll.rawValue, first, CInt(Self.batch), poll ? 0 : -1)
        }
        for event in fetched[..<Int(count)] {
          switch event.data.u64 {
          case Self.wakeToken: break
          case Self.timerToken: events.append(QueuedEvent(token: nil))
          case let token:
            events.append(
              QueuedEvent(token: EventToken(rawValue: token), readiness: Readiness(epollBits: event.events)))
          }
        }
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Writes to the eventfd.
  package func wake() {
    var one: UInt64 = 1
    _ = Glibc.write(wakeUp.rawValue, &one, MemoryLayout.size(ofValue: one))
  }
}

extension Interest {
  fileprivate var epollBits: UInt32 {
    (contains(.read) ? EPOLLIN.rawValue : 0) | (contains(.write) ? EPOLLOUT.rawValue : 0)
      | (contains(.urgent) ? EPOLLPRI.rawValue : 0)
  }
}

extension Readiness {
  fileprivate init(epollBits bits: UInt32) {
    self = []
    if bits & EPOLLIN.rawValue != 0 { insert(.readable) }
    if bits & EPOLLPRI.rawValue != 0 { insert(.urgent) }
    if bits & EPOLLOUT.rawValue != 0 { insert(.writable) }
    if bits & EPOLLHUP.rawValue != 0 { insert(.hangUp) }
    if bits & EPOLLERR.rawValue != 0 { insert(.error) }
  }
}
