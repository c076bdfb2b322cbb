// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// The advisory lock of a whole file (flock(2)), which ends with the process that has it.
package enum FileLock {
  /// Takes the lock, exclusively or shared. Throws `EWOULDBLOCK` when somebody has it.
  package static func take(_ descriptor: FileDescriptor, shared: Bool = false) throws(Errno) {
    let operation = (shared ? LOCK_SH : LOCK_EX) | LOCK_NB
    _ = try SystemCall.run(.flock, on: descriptor.rawValue) { shim_flock(descriptor.rawValue, operation) }
  }

  /// Gives the lock up, also for a child process that is being started and has the descriptor for the moment: closing
  /// would not.
  package static func release(_ descriptor: FileDescriptor) {
    _ = try? SystemCall.run(.flock, on: descriptor.rawValue) { shim_flock(descriptor.rawValue, LOCK_UN) }
  }
}
