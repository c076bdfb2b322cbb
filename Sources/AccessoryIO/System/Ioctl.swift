// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// A request to a device's driver by ioctl(2). Each request is a type: its properties are the argument, and `Reply` is
/// the result. So tests can see each request and answer it in place of the kernel.
package protocol Ioctl {
  /// The driver's reply; Void for a request that has none.
  associatedtype Reply

  /// Makes the call. Returns the result of ioctl(2), -1 for a failure with `errno`, and the reply.
  func call(on descriptor: CInt) -> (result: CInt, reply: Reply)
}

extension SystemCall {
  /// Sends `request` to the driver of `descriptor`.
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
    /// The replies of tests, by the type of the request.
    private static let answers = Locked<[ObjectIdentifier: any Sendable]>([:])
    /// Read without a lock: a signal handler that restores terminals must not wait for a lock.
    private static let hasAnswers = Atomic<Bool>(false)

    private struct Answer<Request: Ioctl>: Sendable {
      let body: @Sendable (Request, CInt) -> Result<Request.Reply, Errno>?
    }

    /// Lets `body` answer the requests of one type. `body` gets the request and the descriptor. It returns the reply,
    /// an error, or nil to let the kernel answer. The observer that `install` sets sees these calls as well.
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
