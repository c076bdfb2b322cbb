// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// Files of this machine: what fails with them is no accessory's doing, and what was opened is closed once.
  @Suite struct FileErrorTests {
    @Test(arguments: [EIO, ENXIO, ENODEV, EPIPE, EHOSTDOWN].map { Errno(rawValue: $0) })
    func aDiskThatFailsIsNoAccessoryThatIsGone(_ errno: Errno) async throws {
      let directory = try TemporaryDirectory()
      try directory.write([1, 2, 3], to: "firmware.bin")
      let path = directory.path + "/firmware.bin"
      let isArmed = Atomic(false)
      try await CallLog.record(deciding: { made, _ in
        [.open, .read].contains(made.call) && isArmed.load(ordering: .sequentiallyConsistent) ? errno : nil
      }) { _ in
        let file = try ReadableFile(path)
        isArmed.store(true, ordering: .sequentiallyConsistent)
        for error in [
          #expect(throws: AccessoryError.self) { try file.read(0..<3) },
          #expect(throws: AccessoryError.self) { try ReadableFile(path) },
          #expect(throws: AccessoryError.self) { try TrustedFolder(directory.path, isStrict: false) },
        ] {
          #expect(error?.kind == .ioFailure)
          #expect(error?.code == .errno(errno.rawValue))
        }
        isArmed.store(false, ordering: .sequentiallyConsistent)
      }
    }

    /// An initializer that throws when all is set runs deinit, too.
    @Test(arguments: [false, true]) func aFolderThatIsNotTrustedIsClosedOnce(isStrict: Bool) async throws {
      let directory = try TemporaryDirectory()
      try #require(chmod(directory.path, isStrict ? 0o770 : 0o707) == 0)
      try await CallLog.record { log in
        let error = #expect(throws: AccessoryError.self) {
          try TrustedFolder(directory.path, isStrict: isStrict)
        }
        #expect(error?.kind == .misconfigured)
        #expect(log.count(.open) == 1)
        #expect(log.count(.close) == 1)
      }
    }

    @Test func aFolderThatIsTrustedIsClosedOnce() async throws {
      let directory = try TemporaryDirectory()
      try directory.write([1, 2, 3], to: "one")
      try await CallLog.record { log in
        let bytes = try TrustedFolder(directory.path, isStrict: false)?.read("one", limit: 10)
        #expect(bytes == [1, 2, 3])
        // The file's own open(2) is an openat(2).
        #expect(log.count(.open) == 1)
        #expect(log.count(.close) == 2)
      }
    }

    @Test func aFileThatIsNoneIsClosedOnce() async throws {
      try await CallLog.record { log in
        let error = #expect(throws: AccessoryError.self) { try ReadableFile("/dev/null") }
        #expect(error?.kind == .unsupported)
        #expect(log.count(.open) == 1)
        #expect(log.count(.close) == 1)
      }
    }
  }
}
