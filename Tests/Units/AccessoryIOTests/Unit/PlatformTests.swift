// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import TestSupport
import Testing

@testable import AccessoryIO

/// What processors differ in: sizes of the kernel's structures, the sign of C's `char`, the size of a page. For arm64 they are run by
/// `make test-arm64`, and with pages of 16 KiB by `make lab-arm64 LAB_PAGES=16k`.
@Suite struct PlatformTests {
  @Test func structuresHaveTheSizesOfTheKernel() {
    #expect(Int.bitWidth == 64)
    #if arch(x86_64)
      // Packed on this processor alone.
      #expect(MemoryLayout<epoll_event>.size == 12)
    #else
      #expect(MemoryLayout<epoll_event>.size == 16)
    #endif
    #expect(MemoryLayout<inotify_event>.size == 16)
    #expect(MemoryLayout<signalfd_siginfo>.size == 128)
    #expect(MemoryLayout<shim_termios2>.size == 44)
    #expect(MemoryLayout<serial_struct>.size == 72)
    #expect(MemoryLayout<serial_icounter_struct>.size == 80)
    #expect(MemoryLayout<serial_rs485>.size == 32)
    #expect(MemoryLayout<hidraw_report_descriptor>.size == 4100)
    #expect(MemoryLayout<shim_ucred>.size == 12)
  }

  /// `char` is unsigned on arm64.
  @Test func namesOfFilesHaveAllTheirBytes() throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: "Gerät")
    try #require(symlink("Ladegerät ½", directory.path + "/link") == 0)
    #expect(Directory.names(in: directory.path).sorted() == ["Gerät", "link"])
    #expect(SymbolicLink.target(of: directory.path + "/link") == "Ladegerät ½")
  }

  /// The kernel tells the size of the same memory in pages and in kilobytes.
  @Test func memoryIsCountedInThePagesOfThisMachine() throws {
    let status = String(decoding: try SmallFile.read("/proc/self/status", limit: 8192), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmSize:") })
    let kilobytes = try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    let taken = try #require(Memory.taken)
    // Other tests take and free memory between the two; a wrong size of a page is wrong by a factor of four.
    #expect(taken.addresses > kilobytes * 512 && taken.addresses < kilobytes * 2048)
    #expect(taken.data > 0 && taken.data <= taken.addresses)
  }
}
