// SPDX-License-Identifier: Apache-2.0

import SystemPackage
import Testing

@testable import AccessoryIO

extension ProcessWide {
  @Suite struct ObserverTests {
    /// What observes the calls isn't wrapped once more at each: its call would overflow the stack in the end.
    @Test func anObserverIsTheSameAfterManyCalls() {
      SystemCall.Interception.install { _ in nil }
      defer { SystemCall.Interception.install(nil) }
      let nowhere = FileDescriptor(rawValue: -1)
      let failures = (0..<200_000).count { _ in
        (try? SystemCall.ioctl(TerminalRequest.IsExclusive(), on: nowhere)) == nil
      }
      #expect(failures == 200_000)
    }
  }
}
