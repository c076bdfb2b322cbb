// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessoryControl
@testable import BridgeService

/// Whose paths the service looks at.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NamingTests {
  private static let member = Caller(peer: SocketPeer(process: 1, user: 12_345, groups: []))

  private func error(_ body: () async throws(CallError) -> Void) async -> CallError? {
    do throws(CallError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// What the service says of a path doesn't depend on whether something is there.
  @Test func aMemberLearnsNothingOfFiles() async throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: "there")
    #expect(symlink("/dev/null", directory.path + "/link") == 0)
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let service = harness.service
      for name in ["there", "link", "missing", "there/below", "missing/below"] {
        let path = directory.path + "/" + name
        let attached = await error { () throws(CallError) in
          _ = try await service.attach(Bridge.Attach(device: path), from: Self.member)
        }
        #expect(attached?.name == "accessorybridge.Bridge.PermissionDenied", "\(name)")
        #expect(attached?.description.replacing(path, with: "PATH") == Self.refusal, "\(name)")
        let asked = await error { () throws(CallError) in
          _ = try await service.battery(Bridge.GetBattery(device: path), from: Self.member)
        }
        #expect(asked?.name == "accessorybridge.Bridge.NoSuchDevice", "\(name)")
      }
    }
  }

  private static let refusal =
    "the service doesn't know the device PATH; only the user who runs the service may attach other paths"

  /// A name below /dev is as good as its path, for those who may name paths.
  @Test func onlyOwnersAttachANameBelowDev() async throws {
    try await ServiceHarness.with { harness in
      let owner = Caller(peer: SocketPeer(process: 1, user: 0, groups: []))
      let reply = try await harness.service.attach(Bridge.Attach(device: "null"), from: owner)
      #expect(reply.accessory.device.path == "/dev/null")
      let refused = await error { () throws(CallError) in
        _ = try await harness.service.attach(Bridge.Attach(device: "zero"), from: Self.member)
      }
      #expect(refused?.name == "accessorybridge.Bridge.NoSuchDevice")
    }
  }

  /// Any other word is a device that isn't there.
  @Test(arguments: ["nobody", "ttyUSB987", "below/it", "usb:1a86:7523"]) func wordsAreNoPaths(word: String)
    async throws
  {
    try await ServiceHarness.with { harness in
      let service = harness.service
      for caller in [Self.member, Caller(peer: SocketPeer(process: 1, user: 0, groups: []))] {
        let error = await error { () throws(CallError) in
          _ = try await service.attach(Bridge.Attach(device: word), from: caller)
        }
        #expect(error?.name == "accessorybridge.Bridge.NoSuchDevice")
        let lost = word.contains("/") ? ", and no such file" : ""
        #expect(error?.description == "there is no accessory \(word)\(lost): bridge-cli list shows all accessories")
      }
    }
  }

  /// A link of somebody's own isn't followed for who asks how an accessory is; its owner can attach by it.
  @Test func linksAreFollowedOnlyForTheirOwner() async throws {
    let directory = try TemporaryDirectory()
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let path = try await simulator.plugIn()
      let link = directory.path + "/link"
      #expect(symlink(path, link) == 0)
      let client = try await harness.client()
      #expect(try await client.call(Bridge.GetBattery(device: path)).device.id == "A1")
      #expect(
        await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery(device: link)) }
          == "NoSuchDevice")
      #expect(try await client.call(Bridge.Attach(device: link)).accessory.device.id == "A1")
    }
  }
}
