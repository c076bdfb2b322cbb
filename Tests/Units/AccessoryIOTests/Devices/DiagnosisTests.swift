// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  /// What a user is told who names the wrong path, or may not open the right one.
  @Suite struct DiagnosisTests {
    private func error(opening path: String) async -> AccessoryError? {
      do throws(AccessoryError) {
        await (try await DescriptorTransport.open(.init(path: path))).close()
        return nil
      } catch {
        return error
      }
    }

    @Test(arguments: ["/dev/null", "/proc/self/status", "/etc/hostname"])
    func whatIsNoTerminalIsUnsupported(_ path: String) async throws {
      let before = ThisProcess.descriptors
      let error = try #require(await error(opening: path))
      #expect(error.kind == .unsupported || path.hasPrefix("/proc") && error.kind == .permissionDenied)
      #expect(error.message.hasPrefix("\(path) "))
      if error.kind == .unsupported { #expect(error.message.hasSuffix("is not a serial port or another terminal")) }
      #expect(ThisProcess.descriptors.isSubset(of: before), "nothing stays open")
    }

    @Test func aFileStaysAsItWas() async throws {
      let path = "/tmp/accessory-io-test-\(getpid())"
      let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      defer {
        close(descriptor)
        unlink(path)
      }
      try #require(write(descriptor, "hello", 5) == 5)
      #expect(await error(opening: path)?.kind == .unsupported)
      #expect(try SmallFile.read(path, limit: 100) == Array("hello".utf8))
    }

    @Test func aDirectoryIsNoDevice() async throws {
      let error = try #require(await error(opening: "/tmp"))
      #expect(error.kind == .unsupported)
      #expect(error.message == "/tmp is a directory, not a device")
    }

    @Test(arguments: ["/dev/ttyNoSuchThing0", "/dev/null/ttyUSB0", "/nowhere/ttyUSB0", ""])
    func aMissingDeviceIsNotFound(_ path: String) async throws {
      let error = try #require(await error(opening: path))
      #expect(error.kind == .notFound)
      #expect(error.message == "there is no \(path): is the accessory plugged in?")
    }

    @Test func anUnpluggedTerminalIsNotFoundOrDisconnected() async throws {
      let terminal = try openPseudoTerminal()
      terminal.unplug()
      let error = try #require(await error(opening: terminal.path))
      #expect([.notFound, .disconnected].contains(error.kind))
    }

    // MARK: - Permission

    private func answerToNobody(_ mode: mode_t, group: gid_t) async throws -> String {
      let terminal = try openPseudoTerminal()
      try #require(chown(terminal.path, 0, group) == 0)
      try #require(chmod(terminal.path, mode) == 0)
      let child = try ChildProcess("open-as-nobody", terminal.path)
      let answer = try await child.readLine()
      return answer.replacing(terminal.path, with: "PATH")
    }

    @Test func theGroupToJoinIsNamed() async throws {
      let entry = try #require(getgrnam("dialout"))
      #expect(
        try await answerToNobody(0o660, group: entry.pointee.gr_gid)
          == "permission_denied: PATH belongs to group dialout, you are not in it: "
          + "sudo usermod -aG dialout $USER, then log in again")
    }

    @Test func aGroupThatMayNotWriteIsNoAdvice() async throws {
      let answer = try await answerToNobody(0o640, group: 5)
      #expect(answer.hasPrefix("permission_denied: PATH may be opened by its owner only"))
      #expect(!answer.contains("usermod"))
    }

    @Test func aDeviceForItsOwnerOnlyIsExplained() async throws {
      let answer = try await answerToNobody(0o600, group: 20)
      #expect(answer.hasPrefix("permission_denied: PATH may be opened by its owner only"))
    }

    @Test func aMemberIsNotToldToJoin() async throws {
      let answer = try await answerToNobody(0o460, group: 65_534)  // nobody's own group, and that may
      #expect(answer == "open")
    }

    @Test func aClosedFolderAboveADeviceIsExplained() async throws {
      let folder = "/tmp/accessory-io-closed-\(getpid())"
      try #require(mkdir(folder, 0o700) == 0)
      defer { rmdir(folder) }
      let child = try ChildProcess("open-as-nobody", "\(folder)/ttyUSB0")
      let answer = try await child.readLine()
      #expect(
        answer == "permission_denied: \(folder)/ttyUSB0 can't be reached: you have no access to a directory above it"
      )
    }

    @Test func aLinkToAnOpenTerminalIsBusy() async throws {
      let terminal = try openPseudoTerminal()
      let link = "/tmp/accessory-io-link-\(getpid())"
      try #require(symlink(terminal.path, link) == 0)
      defer { unlink(link) }
      let transport = try await DescriptorTransport.open(.init(path: link, label: "the lamp"))
      #expect(transport.label == "the lamp")
      let error = try #require(await error(opening: link))
      #expect(error.message == "\(link) is open already in this program")
      await transport.close()
    }
  }
}
