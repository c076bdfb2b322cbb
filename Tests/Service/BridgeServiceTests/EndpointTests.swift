// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import BridgeService

/// Terminals and sockets that a profile has: `share: {pty: NAME, unix: NAME}`.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct EndpointTests {
  private static func profile(_ change: (inout ProfileSharing) -> Void) -> Profile {
    var profile = Pack.profile(allowsWrites: true)
    var sharing = ProfileSharing()
    sharing.asksToWrite = true
    change(&sharing)
    profile.sharing = sharing
    return profile
  }

  /// A service with the pack's profile, and its folder.
  private func with(
    _ profile: Profile, _ body: (ServiceHarness, PackEnd, String) async throws -> Void
  ) async throws {
    let pack = try await PackEnd()
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/shared"
    try await ServiceHarness.with(profiles: [profile, .af1], drivers: Pack.library) { configuration in
      configuration.shareFolder = folder
    } _: { harness in
      try await harness.said("is shared at")
      try await body(harness, pack, folder)
    }
    #expect(directory.names(in: "shared").isEmpty, "they are removed")
    await pack.terminal.transport.close()
  }

  private func plugIn(_ harness: ServiceHarness, _ pack: PackEnd) throws -> AnnouncementFile {
    try harness.announce(pack.terminal.path, serial: "P1", driver: "pack")
  }

  private func client(_ path: String) async throws -> Received {
    Received(try await DescriptorTransport.open(unix: path))
  }

  private func terminal(_ path: String, baudRate: UInt32 = 9_600) async throws -> Received {
    Received(
      try await DescriptorTransport.open(TerminalConfiguration(path: path, baudRate: baudRate, label: path)))
  }

  @Test func programsWaitForItAndShareIt() async throws {
    try await with(Self.profile { ($0.terminal, $0.socket) = ("pack", "pack.sock") }) { harness, pack, folder in
      var file = stat()
      #expect(stat(folder + "/pack.sock", &file) == 0 && file.st_mode & 0o777 == 0o660)
      #expect(stat(folder + "/pack", &file) == 0 && file.st_mode & 0o777 == 0o660 && file.st_gid == getegid())
      #expect(lstat(folder + "/pack", &file) == 0 && file.st_mode & S_IFMT == S_IFLNK)
      let early = try await client(folder + "/pack.sock")
      early.send("early\n")
      let announced = try plugIn(harness, pack)
      try await pack.expect("early\n")
      #expect(try await harness.state("P1") == .lent)
      let program = try await terminal(folder + "/pack")
      program.send("program\n")
      try await pack.expect("early\nprogram\n")
      _ = pack.terminal.transport.output.offer(Array("answer".utf8))
      try await early.expect("answer")
      try await program.expect("answer")
      // With the last of them the service has it again.
      await early.transport.close()
      await program.transport.close()
      try await harness.said("P1 is attached at", times: 2)
      _ = try await harness.client().call(Bridge.Perform(commands: [.init("read")]))
      try await pack.expect("early\nprogram\nread\n")
      announced.remove()
    }
  }

  /// Who writes and goes at once is heard all the same.
  @Test func aClientThatWritesAndGoesIsHeard() async throws {
    try await with(Self.profile { $0.terminal = "pack" }) { harness, pack, folder in
      let announced = try plugIn(harness, pack)
      try await harness.said("P1 is attached at")
      for (number, text) in ["one\n", "one\ntwo\n"].enumerated() {
        let program = try await terminal(folder + "/pack")
        program.send(number == 0 ? "one\n" : "two\n")
        await program.transport.close()
        try await pack.expect(text)
      }
      try await eventually("the service has it again") { try await harness.state("P1") == .attached }
      announced.remove()
    }
  }

  /// What a program sets on the terminal reaches the accessory's line, before its bytes.
  @Test func theLineFollowsTheTerminal() async throws {
    try await with(Self.profile { $0.terminal = "pack" }) { harness, pack, folder in
      let announced = try plugIn(harness, pack)
      try await harness.said("P1 is attached at")
      let program = try await terminal(folder + "/pack", baudRate: 19_200)
      program.send("x")
      try await pack.expect("x")
      #expect(pack.terminal.settings()?.baudRate == 19_200)
      await program.transport.close()
      try await harness.said("P1 is attached at", times: 2)
      #expect(pack.terminal.settings()?.baudRate == 115_200)
      announced.remove()
    }
  }

  /// Also of a program that has it open, and has sent something, before the accessory is there.
  @Test func theLineFollowsWhoCameBefore() async throws {
    try await with(Self.profile { $0.terminal = "pack" }) { harness, pack, folder in
      let program = try await terminal(folder + "/pack", baudRate: 19_200)
      program.send("x")
      let announced = try plugIn(harness, pack)
      try await pack.expect("x")
      #expect(pack.terminal.settings()?.baudRate == 19_200)
      await program.transport.close()
      announced.remove()
    }
  }

  /// Those that only read don't stop the service's own work.
  @Test func readersDoNotStopTheServicesOwnWork() async throws {
    let profile = Self.profile {
      ($0.socket, $0.writers, $0.asksToWrite) = ("pack", .none, false)
    }
    try await with(profile) { harness, pack, folder in
      let announced = try plugIn(harness, pack)
      try await harness.said("P1 is attached at")
      let reader = try await client(folder + "/pack")
      reader.send("cut\n")
      try await harness.said("may not write")
      _ = try await harness.client().call(Bridge.Perform(commands: [.init("read")]))
      try await pack.expect("read\n")
      _ = pack.terminal.transport.output.offer(Array("told".utf8))
      try await reader.expect("told")
      #expect(try await harness.state("P1") == .attached)
      await reader.transport.close()
      announced.remove()
    }
  }

  /// Without the profile's word nobody's bytes reach what they may change something in; programs read what it says.
  @Test func withoutPermissionAProgramOnlyReads() async throws {
    try await with(Self.profile { ($0.socket, $0.asksToWrite) = ("pack", false) }) { harness, pack, folder in
      let announced = try plugIn(harness, pack)
      try await harness.said("P1 is shared for reading only: ")
      let program = try await client(folder + "/pack")
      program.send("cut\n")
      try await harness.said("may not write")
      _ = try await harness.client().call(Bridge.Perform(commands: [.init("read")]))
      try await pack.expect("read\n")
      _ = pack.terminal.transport.output.offer(Array("told".utf8))
      try await program.expect("told")
      await program.transport.close()
      announced.remove()
    }
  }

  @Test(arguments: [ProfileSharing.Unplug.hangUp, .keep])
  func anUnplugHangsUpOrKeepsASharingProgram(policy: ProfileSharing.Unplug) async throws {
    let profile = Self.profile { ($0.socket, $0.terminal, $0.unplug) = ("pack.sock", "pack", policy) }
    try await with(profile) { harness, pack, folder in
      let announced = try plugIn(harness, pack)
      try await harness.said("P1 is attached at")
      let program = try await client(folder + "/pack.sock")
      program.send("one\n")
      try await pack.expect("one\n")
      announced.remove()
      await pack.terminal.transport.close()
      try await harness.said("P1 is given back")
      let next = try await PackEnd()
      if policy == .hangUp { try await program.isOver.wait { $0 } }
      let again = try plugIn(harness, next)
      try await harness.said("P1 is attached at", times: 2)
      let other = policy == .hangUp ? try await client(folder + "/pack.sock") : program
      // What is sent before the line is lent again may be thrown away with `keep`; later it isn't.
      try await eventually("the bytes arrive") {
        other.send("two\n")
        return next.text.contains("two\n")
      }
      try await eventually("the terminal is there again") { access(folder + "/pack", F_OK) == 0 }
      #expect(program.isOver.value == (policy == .hangUp))
      await other.transport.close()
      again.remove()
      await next.terminal.transport.close()
    }
  }

  /// Places come and go with the profiles, and two profiles don't take each other's.
  @Test func socketsComeAndGoWithTheirProfiles() async throws {
    let first = Self.profile { $0.socket = "one" }
    try await with(first) { harness, _, folder in
      var other = Self.profile { $0.socket = "one" }
      other.name = "other"
      await harness.service.use(ProfileStore([first, other]))
      try await harness.said("another profile shares its accessory as one")
      await harness.service.use(ProfileStore([Self.profile { $0.socket = "two" }]))
      try await eventually("the socket's new name") {
        access(folder + "/two", F_OK) == 0 && access(folder + "/one", F_OK) != 0
      }
    }
  }
}
