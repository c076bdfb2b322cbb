// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// A request to a device's driver by ioctl(2). Each request is a type: its members go to the kernel, and its `Reply`
/// comes back. So a test sees what is asked for, and can answer in place of the kernel.
package protocol Ioctl {
  /// What the kernel answers; Void where a request only says something.
  associatedtype Reply

  /// Makes the call. Returns what ioctl(2) returns, -1 for a failure with `errno`, and the answer.
  func call(on descriptor: CInt) -> (result: CInt, reply: Reply)
}

extension SystemCall {
  /// Asks the driver of `descriptor`.
  static func ioctl<Request: Ioctl>(_ request: Request, on descriptor: FileDescriptor) throws(Errno) -> Request.Reply {
    try run(.ioctl, on: descriptor.rawValue) { () -> (result: CInt, value: Request.Reply?) in
      #if DEBUG
        switch Interception.answer(to: request, on: descriptor.rawValue) {
        case .success(let reply): return (0, reply)
        case .failure(let error):
          errno = error.rawValue
          return (-1, nil)
        case nil: break
        }
      #endif
      let (result, reply) = request.call(on: descriptor.rawValue)
      return (result, reply)
    }
  }
}

#if DEBUG
  extension SystemCall.Interception {
    /// Answers of tests, by the type of the request.
    private static let answers = Locked<[ObjectIdentifier: any Sendable]>([:])
    /// Looked at first: a signal handler, which puts terminals back, must not wait for a lock.
    private static let hasAnswers = Atomic<Bool>(false)

    private struct Answer<Request: Ioctl>: Sendable {
      let body: @Sendable (Request, CInt) -> Result<Request.Reply, Errno>?
    }

    /// Has `body` answer requests of one type from now on. It gets the request and the descriptor, and returns the
    /// answer or the error of the call, or nil to let the kernel answer. Calls that `install` sees are seen all the same.
    package static func answer<Request: Ioctl>(
      _ request: Request.Type, with body: @escaping @Sendable (Request, CInt) -> Result<Request.Reply, Errno>?
    ) {
      answers.withLock { $0[ObjectIdentifier(request)] = Answer(body: body) }
      hasAnswers.store(true, ordering: .sequentiallyConsistent)
    }

    /// Lets the kernel answer everything again.
    package static func removeAnswers() {
      hasAnswers.store(false, ordering: .sequentiallyConsistent)
      answers.withLock { $0 = [:] }
    }

    static func answer<Request: Ioctl>(to request: Request, on descriptor: CInt) -> Result<Request.Reply, Errno>? {
      guard hasAnswers.load(ordering: .relaxed) else { return nil }
      let answer = answers.withLock { $0[ObjectIdentifier(Request.self)] as? Answer<Request> }
      return answer?.body(request, descriptor)
    }
  }
#endif
