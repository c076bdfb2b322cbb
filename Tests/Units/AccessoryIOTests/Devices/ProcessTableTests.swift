// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

extension ProcessWide {
  @Suite struct ProcessTableTests {
    @Test func aTerminalOpenedTwiceIsOpenElsewhere() throws {
      let terminal = try openPseudoTerminal()
      let first = try SystemCall.open(terminal.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { SystemCall.close(first) }
      // The test terminal keeps an end of its own.
      #expect(ProcessTable.isOpenElsewhere(first))
    }

    /// Terminals are numbered anew in each instance of devpts: another node of the same numbers is another terminal.
    @Test func aTerminalOfAnotherInstanceIsAnother() throws {
      let directory = try TemporaryDirectory()
      let master = try SystemCall.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { SystemCall.close(master) }
      var (number, locked): (CUnsignedInt, CInt) = (0, 0)
      try #require(ioctl(master.rawValue, 0x8004_5430, &number) == 0)
      try #require(ioctl(master.rawValue, 0x4004_5431, &locked) == 0)
      let terminal = try SystemCall.open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_NONBLOCK)
      defer { SystemCall.close(terminal) }
      var file = stat()
      try #require(fstat(terminal.rawValue, &file) == 0)
      #expect(!ProcessTable.isOpenElsewhere(terminal))
      let other = directory.path + "/pts"
      try #require(mknod(other, S_IFCHR | 0o600, file.st_rdev) == 0)
      let descriptor = try SystemCall.open(other, 0o10000000)  // O_PATH: it can't be opened in earnest
      defer { SystemCall.close(descriptor) }
      #expect(!ProcessTable.isOpenElsewhere(terminal))
    }
  }
}
