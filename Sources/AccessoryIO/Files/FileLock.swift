// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// The advisory lock of a whole file (flock(2)). The kernel releases it when the process ends.
package enum FileLock {
  /// Takes the lock, exclusively or shared. Throws `EWOULDBLOCK` when another open file holds it.
  package static func take(_ descriptor: FileDescriptor, shared: Bool = false) throws(Errno) {
    let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    _ = try SystemCall.run(.flock, on: descriptor.rawValue) { shim_flock(descriptor.rawValue, operation) }
  }

  /// Releases the lock. Closing the descriptor doesn't release it while a child process that is just being started has
  /// inherited the descriptor.
  package static func release(_ descriptor: FileDescriptor) {
    _ = try? SystemCall.run(.flock, on: descriptor.rawValue) { shim_flock(descriptor.rawValue, LOCK_UN) }
  }
}
