// SPDX-License-Identifier: Apache-2.0

import SystemPackage

/// A descriptor that is kept open, so that there is one for something important when the process has used all others.
package struct SpareDescriptor: Sendable {
  private var descriptor: FileDescriptor?

  package init() {}

  /// Opens the descriptor, if it isn't open and the system allows one more.
  package mutating func keep() { if descriptor == nil { descriptor = try? SystemCall.newEventDescriptor() } }

  /// Closes the descriptor. Returns false if there was none.
  package mutating func give() -> Bool {
    guard let descriptor else { return false }
    SystemCall.close(descriptor)
    self.descriptor = nil
    return true
  }
}
