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

  /// Releases the lock. Closing the descriptor isn't enough: a child process that is being started may have inherited
  /// it.
  package static func release(_ descriptor: FileDescriptor) {
    _ = try? SystemCall.run(.flock, on: descriptor.rawValue) { shim_flock(descriptor.rawValue, LOCK_UN) }
  }
}
