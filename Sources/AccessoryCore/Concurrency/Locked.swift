// SPDX-License-Identifier: Apache-2.0

#if THREAD_SANITIZER
  import Glibc

  /// A value behind a pthread mutex. The thread sanitizer understands pthread mutexes, but not `Mutex`.
  package struct Locked<Value>: ~Copyable, @unchecked Sendable {
    // Sendable is sound: the value is only reached through `withLock`, and the mutex admits one thread at a time.
    // The value lies in raw memory because the sanitizer takes an access to one property of a class for an access to
    // the whole object.
    private let value: UnsafeMutablePointer<Value>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Puts `value` behind a lock.
    package init(_ value: consuming sending Value) {
      self.value = .allocate(capacity: 1)
      self.value.initialize(to: value)
      mutex = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
      value.deinitialize(count: 1)
      value.deallocate()
    }

    /// Runs `body` while holding the lock.
    package borrowing func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }

    /// Runs `body` if the lock is free; returns nil if it isn't.
    package borrowing func withLockIfAvailable<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard pthread_mutex_trylock(mutex) == 0 else { return nil }
      defer { pthread_mutex_unlock(mutex) }
      return try body(&value.pointee)
    }
  }
#else
  import Synchronization

  /// A value behind a lock.
  package typealias Locked = Mutex
#endif
