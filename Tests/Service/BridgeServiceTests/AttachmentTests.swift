// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import Logging
import TestSupport
import Testing

@testable import BridgeService

/// Attachments as accessories come and go.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AttachmentTests {
  /// It goes in the middle of a request: that fails at once; the next one, when it is back, is answered.
  @Test func anUnplugFailsOnlyTheRequestUnderWay() async throws {
    let asked = Watched(0)
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case AF1Command(rawValue: 0x7D):
        asked.update { $0 += 1 }
        return .silence
      case .echo: return .reply(request.payload)
      case .hello: return .silence
      default: return .refusal(1)
      }
    }
    try await ServiceHarness.with { harness in
      let first = try await accessory.onPseudoTerminal()
      var file = try harness.announce(first.path, serial: "S1")
      try await harness.said("S1 is attached at")
      let client = try await harness.client()
      let request = Task {
        await errorName { () throws(ControlError) in _ = try await client.call(Bridge.Request(command: "0x7D")) }
      }
      try await asked.wait { $0 > 0 }
      file.remove()
      await first.transport.close()
      #expect(await request.value == "Disconnected")
      try await harness.said("S1: ")
      let second = try await accessory.onPseudoTerminal()
      file = try harness.announce(second.path, serial: "S1")
      try await harness.said("S1 is attached at", times: 2)
      #expect(try await client.call(Bridge.Request(command: "echo", payload: [7])).reply.payload == [7])
      #expect(harness.log.value.contains { $0.contains("; try 1 of 3 in 20 ms") })
      file.remove()
      await second.transport.close()
    }
  }

  @Test func forgottenWhenItDoesNotComeBack() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      await simulator.unplug()
      try await harness.said("A1 is no longer attached")
      for number in 1...3 { try await harness.said("try \(number) of 3 in 20 ms") }
      #expect(try await harness.state("A1") == nil)
      try await eventually("the status") { harness.statuses.value.last == "no accessory" }
      #expect(harness.statuses.value.first == "no accessory")
      #expect(harness.statuses.value.contains("1 attached"))
    }
  }

  /// Two with the same name are two, and each comes back as what it was.
  @Test func twoAccessoriesOfOneNameAreTwo() async throws {
    try await ServiceHarness.with { harness in
      let one = try await harness.simulate("SAME")
      let two = try await harness.simulate("SAME")
      let client = try await harness.client()
      func attached() async throws -> [Bridge.Accessory] {
        try await client.call(Bridge.List()).accessories.filter { $0.state == .attached }
      }
      try await eventually("both") { try await attached().count == 2 }
      #expect(try await Set(attached().map(\.device.path)).count == 2)
      await one.unplug()
      try await harness.said(" is no longer attached")
      let left = try #require(try await attached().first)
      #expect(try await client.call(Bridge.GetBattery(device: left.device.id)).battery.percent == 100)
      await two.unplug()
      try await harness.said(" is no longer attached", times: 2)
    }
  }

  @Test func anAccessoryThatNeverAnswersIsGivenUp() async throws {
    try await ServiceHarness.with({ $0.retry = .init(tries: .count(2), interval: .milliseconds(5)) }) { harness in
      let deaf = try await PseudoTerminal.open()
      let file = try harness.announce(deaf.path, serial: "DEAF", file: "deaf")
      try await harness.said("DEAF: ", times: 3)
      try await harness.said("given up")
      #expect(try await harness.state("DEAF") == .failed)
      let name = await errorName { () throws(ControlError) in
        _ = try await harness.client2().call(Bridge.GetBattery(device: "DEAF"))
      }
      #expect(name == "TimedOut")
      file.remove()
      try await harness.said("DEAF is no longer attached")
      await deaf.transport.close()
    }
  }

  @Test func noMoreThanTheLimitAreAttached() async throws {
    try await ServiceHarness.with({ $0.maximumAttached = 2 }) { harness in
      let one = try await harness.simulate("A1")
      try await harness.simulate("A2")
      try await harness.attached("A1")
      try await harness.attached("A2")
      try await harness.simulate("A3")
      try await harness.said("A3 is not attached: 2 accessories are attached, which is the limit")
      #expect(try await harness.state("A3") == .failed)
      let client = try await harness.client()
      var name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.GetBattery(device: "A3"))
      }
      #expect(name == "Busy")
      name = await errorName { () throws(ControlError) in _ = try await client.call(Bridge.Attach(device: "A3")) }
      #expect(name == "LimitReached")
      let again = try await client.call(Bridge.Attach(device: "A1"))
      #expect(again.was_attached == true && again.accessory.state == .attached)
      // A place is free: the one that was refused has its turn.
      await one.unplug()
      try await harness.said("A3 is attached at")
      #expect(try await client.call(Bridge.GetBattery(device: "A3")).battery.percent == 100)
    }
  }

  @Test func aProfileAttachesNoMoreThanItsLimit() async throws {
    var profile = Profile.af1
    profile.policies.maximumAttached = 1
    try await ServiceHarness.with(profiles: [profile]) { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      try await harness.simulate("A2")
      try await harness.said("A2 is not attached: 1 accessory of the profile framed is attached, which is its limit")
      let client = try await harness.client()
      do {
        _ = try await client.call(Bridge.Attach(device: "A2"))
        Issue.record("over the limit")
      } catch ControlError.answer(let error) {
        #expect(error.parameters["limit"] == .int(1))
      }
    }
  }

  @Test func letGoUntilItIsPluggedInAnew() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await harness.client()
      let reply = try await client.call(Bridge.Detach(device: "A1"))
      #expect(reply.device.id == "A1")
      #expect(try await harness.state("A1") == nil)
      await harness.service.use(ProfileStore([.af1]))
      #expect(try await harness.state("A1") == nil)
      // It is free for others.
      let session = try await DeviceOpener(reply.device, profile: .af1).session()
      let accessory = try await AF1Accessory.open(session)
      #expect(try await accessory.battery().percent == 100)
      await accessory.close()
      await simulator.unplug()
      try await simulator.plugIn()
      try await harness.said("A1 is attached at", times: 2)
    }
  }

  /// A device that no profile knows, by its path.
  @Test func anUnknownDeviceIsAttachedByItsPath() async throws {
    let accessory = ScriptedAccessory { $0.command == .echo ? .reply($0.payload) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with({ $0.reconnect.tries = .off }) { harness in
      let client = try await harness.client()
      let reply = try await client.call(Bridge.Attach(device: terminal.path, profile: "framed"))
      #expect(reply.accessory.state == .attached && reply.was_attached == false)
      #expect(reply.accessory.device.source == .named)
      let echo = try await client.call(Bridge.Request(device: terminal.path, command: "echo", payload: [3]))
      #expect(echo.reply.payload == [3])
      await terminal.transport.close()
      try await harness.said("\(terminal.path) is no longer attached")
      for nonsense in ["/dev/null", "/etc/passwd", "/nowhere", "nobody", "", "../../etc/passwd"] {
        let name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Attach(device: nonsense))
        }
        let list = try await client.call(Bridge.List())
        #expect(name != nil || list.accessories.allSatisfy { $0.state != .attached })
      }
    }
  }

  /// A name below /dev means the same as its path, as for the command. No source knows the device, so only the file
  /// system tells that there is one.
  @Test func attachedByANameBelowDev() async throws {
    let accessory = ScriptedAccessory { $0.command == .echo ? .reply($0.payload) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    let name = String(terminal.path.dropFirst("/dev/".count))
    try await ServiceHarness.with({ $0.reconnect.tries = .off }) { harness in
      let client = try await harness.client()
      let reply = try await client.call(Bridge.Attach(device: name, profile: "framed"))
      #expect(reply.accessory.state == .attached && reply.accessory.device.path == terminal.path)
      let echo = try await client.call(Bridge.Request(device: name, command: "echo", payload: [3]))
      #expect(echo.reply.payload == [3])
      await terminal.transport.close()
    }
  }

  /// By its path, before anybody has told what it is: a user, or a rule of udev, may be faster than udev itself.
  @Test func anAccessoryMayBeAttachedBeforeItIsAnnounced() async throws {
    let accessory = ScriptedAccessory { $0.command == .echo ? .reply($0.payload) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let client = try await harness.client()
      let named = try await client.call(Bridge.Attach(device: terminal.path)).accessory
      #expect(named.device.serialNumber == nil && named.state == .attached && named.driver == nil)
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is at \(terminal.path), profile framed")
      let attached = try await client.call(Bridge.Attach(device: terminal.path))
      #expect(attached.accessory.state == .attached && attached.accessory.device.serialNumber == "S1")
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.id) == ["S1"])
      let echo = try await client.call(Bridge.Request(device: "S1", command: "echo", payload: [3]))
      #expect(echo.reply.payload == [3])
      // What is known of it now tells its end, too.
      file.remove()
      await terminal.transport.close()
      try await harness.said("S1 is no longer attached")
    }
  }

  /// Who waits for a device gets the one that has taken its place.
  @Test func aWaitingClientGetsTheAnnouncedDevice() async throws {
    let (isSilent, asked) = (Watched(true), Watched(false))
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .hello:
        asked.update { $0 = true }
        return isSilent.value ? .bytes([]) : .reply(ScriptedAccessory.helloReply)
      case .echo: return .reply(request.payload)
      default: return .refusal(1)
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with { harness in
      let client = try await harness.client()
      async let reply = client.call(Bridge.Attach(device: terminal.path, profile: "framed"))
      try await asked.wait { $0 }
      let file = try harness.announce(terminal.path, serial: "S1")
      try await eventually("the announced device") { try await harness.state("S1") != nil }
      isSilent.update { $0 = false }
      let attached = try await reply.accessory
      #expect(attached.state == .attached && attached.device.serialNumber == "S1")
      #expect(!harness.log.value.contains { $0.contains("\(terminal.path) is attached") })
      file.remove()
      await terminal.transport.close()
    }
  }

  /// What is expected is held when it is told of, be there a profile for it or not; and not before.
  @Test(arguments: [[Profile.af1], []]) func anExpectedDeviceIsHeldWhenItComes(profiles: [Profile]) async throws {
    let accessory = ScriptedAccessory { $0.command == .echo ? .reply($0.payload) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with(profiles: profiles) { harness in
      let client = try await harness.client()
      for nonsense in ["", "nobody", "../dev/null"] {
        let name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Expect(device: nonsense))
        }
        #expect(name == "Misconfigured", "\(nonsense)")
      }
      _ = try await client.call(Bridge.Expect(device: terminal.path))
      #expect(try await client.call(Bridge.List()).accessories.isEmpty)
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is at \(terminal.path), profile \(profiles.isEmpty ? "none" : "framed")")
      try await harness.said("S1 is attached at")
      _ = try await client.call(Bridge.Expect(device: terminal.path))
      #expect(try await client.call(Bridge.List()).accessories.map(\.device.id) == ["S1"])
      file.remove()
      await terminal.transport.close()
    }
  }

  /// One that comes when it is expected no more, another one, and more than are kept.
  @Test func expectationsEndAndAreBounded() {
    var expectations = Expectations()
    let start = MonotonicTime(nanoseconds: 0)
    func isExpected(_ path: String, after delay: Duration = .zero) -> Bool {
      expectations.take(Device(.node(path), source: .udev), now: start + delay)
    }
    expectations.add(ExpectedDevice("/dev/ttyS99"), now: start)
    #expect(isExpected("/dev/ttyS99", after: Expectations.patience) == false)
    expectations.add(ExpectedDevice("/dev/ttyS99"), now: start)
    #expect(isExpected("/dev/ttyS9") == false)
    #expect(isExpected("/dev/ttyS99"))
    #expect(isExpected("/dev/ttyS99") == false, "once")
    expectations.add(ExpectedDevice("/dev/ttyS99"), now: start)
    for number in 0..<Expectations.limit { expectations.add(ExpectedDevice("/dev/many\(number)"), now: start) }
    #expect(isExpected("/dev/ttyS99") == false)
  }

  /// Another device that has got the path meanwhile isn't the one that is expected, and neither is what comes there after it.
  @Test func whatIsExpectedHasItsIdentity() {
    func adapter(port: String, product: UInt16 = 0xEA60) -> Device {
      Device(
        .terminal("/dev/ttyUSB0"), source: .udev, serialNumber: "0001",
        usb: USBIdentity(
          vendorID: 0x10C4, productID: product, bus: 1, address: 7, node: "/dev/bus/usb/001/007", port: port))
    }
    let expected = ExpectedDevice("/dev/ttyUSB0", identity: "10c4:ea60@1-1.4")
    for (other, isExpected) in [
      (adapter(port: "1-1.4"), true), (adapter(port: "1-1.2"), false), (adapter(port: "1-1.4", product: 0xEA61), false),
      (Device(.terminal("/dev/ttyUSB0"), source: .udev), false),
    ] {
      var expectations = Expectations()
      expectations.add(expected, now: MonotonicTime(nanoseconds: 0))
      let isTaken = expectations.take(other, now: MonotonicTime(nanoseconds: 1))
      #expect(isTaken == isExpected)
      let isTakenAgain = expectations.take(adapter(port: "1-1.4"), now: MonotonicTime(nanoseconds: 2))
      #expect(!isTakenAgain)
    }
  }

  @Test func profilesAreReadAnew() async throws {
    try await ServiceHarness.with(profiles: []) { harness in
      try await harness.simulate("A1")
      try await harness.said("looking for accessories")
      #expect(try await harness.state("A1") == nil)
      // It may come after this, or before.
      await harness.service.use(ProfileStore([.af1]))
      try await harness.attached("A1")
      var other = Profile.af1
      other.transport.terminal.baudRate = 9_600
      await harness.service.use(ProfileStore([other]))
      try await harness.said("A1 is attached at", times: 2)
      #expect(try await harness.client().call(Bridge.GetInfo()).line?.baud == 9_600)
      await harness.service.use(ProfileStore([]))
      #expect(try await harness.state("A1") == nil)
    }
  }

  @Test func anIdleAccessoryRestsUntilItIsWanted() async throws {
    var profile = Profile.af1
    profile.policies.idleClose = .milliseconds(50)
    try await ServiceHarness.with(profiles: [profile]) { harness in
      try await harness.simulate("A1")
      try await harness.said("was not used for 50 ms")
      try await eventually("its rest") { try await harness.state("A1") == .waiting }
      #expect(try await harness.client().call(Bridge.GetBattery()).battery.percent == 100)
      try await harness.said("was not used for 50 ms", times: 2)
      let (_, transport) = try await harness.client().upgrade(Bridge.Open())
      #expect(try await harness.state("A1") == .lent)
      await transport.close()
    }
  }

  @Test func theServicePollsAgainAndAgain() async throws {
    let percent = Watched<UInt8>(80)
    let accessory = ScriptedAccessory { request in
      switch request.command {
      case .battery: .reply([2, percent.value])
      case .hello: .silence
      default: .refusal(1)
      }
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with({ $0.poll = .every(.milliseconds(10)) }) { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.said("S1 is attached at")
      #expect(try await harness.client().call(Bridge.GetBattery()).battery.percent == 80)
      // What was known before they came is not told to subscribers; what is found out by asking again is.
      var events = try await harness.client().stream(Bridge.Subscribe()).makeAsyncIterator()
      while try #require(try await events.next()).event != .ready {}
      var last: Int?
      percent.update { $0 = 79 }
      while last != 79 { last = try #require(try await events.next()).battery?.percent }
      file.remove()
    }
    await terminal.transport.close()
  }

  /// Nothing attached and no client: then the time begins to count.
  @Test func anIdleServiceEndsAfterItsTime() async throws {
    let clock = ManualClock()
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    configuration.exitIdle = .seconds(30)
    let service = BridgeService(
      configuration, profiles: .builtIn, drivers: .builtIn,
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    await service.watch([])
    #expect(clock.nextDeadline == clock.now + .seconds(30))
    clock.advance(by: .seconds(20))
    service.noteClients(1)
    try await eventually("the client to be noted") { clock.pendingCount == 0 }
    clock.advance(by: .seconds(100))
    service.noteClients(0)
    try await clock.waitForPending()
    clock.advance(by: .seconds(29))
    #expect(clock.pendingCount == 1)
    clock.advance(by: .seconds(1))
    for await _ in service.idle {}
    await service.close()
  }

  @Test func theSearchIsOver() async throws {
    let clock = ManualClock()
    let log = Watched<[String]>([])
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    configuration.scanTimeout = .seconds(5)
    let service = BridgeService(
      configuration, profiles: .builtIn, drivers: .builtIn, log: Logger(label: "test") { _ in TestLog(lines: log) },
      clock: clock)
    await service.watch([])
    clock.advance(by: .seconds(5))
    try await log.wait { $0.contains { $0.contains("the search has ended: no accessory") } }
    await service.close()
  }

  @Test func flagsTakeThePlaceOfProfiles() {
    var configuration = ServiceConfiguration(information: ServiceHarness.information)
    var profile = Profile.af1
    profile.policies.reconnect.tries = 7
    #expect(configuration.policies(profile) == profile.policies)
    #expect(configuration.policies(nil) == AttachmentPolicies())
    configuration.reconnect = .init(tries: .forever, interval: .seconds(90), backoffThousandths: 1_500)
    configuration.retry = .init(tries: .off)
    let policies = configuration.policies(profile)
    #expect(policies.reconnect.tries == nil && policies.reconnect.isEnabled)
    #expect(policies.reconnect.pause(beforeTry: 1) == .seconds(90))
    #expect(policies.reconnect.backoffThousandths == 1_500)
    #expect(!policies.retry.isEnabled)
    configuration.retry = .init(tries: .count(5))
    #expect(configuration.policies(profile).retry.tries == 5)
  }

  /// The kernel gives a name that is free to whatever comes next: who awaits the accessory that had it is not asked.
  @Test func anotherAccessoryAtThePathIsNotAsked() async throws {
    let profile = Profile.af1
    try await ServiceHarness.with(profiles: [profile]) {
      $0.reconnect = .init(tries: .forever, interval: .seconds(60))
    } _: { harness in
      let accessory = ScriptedAccessory { request in
        switch request.command {
        case .battery: .reply([2])
        case .status: .reply([1, 0, 0, 7])
        default: .silence
        }
      }
      let terminal = try await accessory.onPseudoTerminal()
      let first = try harness.announce(terminal.path, serial: "S1", file: "first")
      try await harness.said("S1 is attached at")
      first.remove()
      try await eventually("S1 to be awaited") { try await harness.state("S1") == .waiting }
      let second = try harness.announce(terminal.path, serial: "S10", file: "second")
      try await harness.said("S10 is attached at")
      let client = try await harness.client()
      for name in [terminal.path, nil, "S10"] {
        #expect(try await client.call(Bridge.GetBattery(device: name)).device.serialNumber == "S10", "\(name ?? "")")
      }
      // Its own name means the one that is awaited, though it is how the other's begins.
      let error = await #expect(throws: ControlError.self) { try await client.call(Bridge.GetBattery(device: "S1")) }
      #expect(error?.accessoryError.kind == .disconnected)
      second.remove()
      terminal.transport.input.finish(nil)
    }
  }

  /// What an accessory says of itself is nothing but text.
  @Test(arguments: [
    "../../../etc/passwd", "a\nb", "$(touch /tmp/x)", String(repeating: "x", count: 250), "\u{1b}[31mred\u{7}",
    "\u{202e}live", "`id`; rm -rf *", "%s%n", "é\u{0301}\u{FFFD}",
  ])
  func hostileTextsOfAnAccessoryStayText(_ text: String) async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate(text, name: text)
      try await harness.said("is attached at")
      let client = try await harness.client()
      let list = try await client.call(Bridge.List())
      #expect(list.accessories.map(\.device.serialNumber) == [text])
      #expect(try await client.call(Bridge.GetBattery(device: text)).battery.percent == 100)
      for line in harness.log.value {
        #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
        #expect(line.utf8.count < 2_000)
      }
    }
  }
}

extension ServiceHarness {
  /// A new connection; for where only its own errors are expected.
  func client2() async throws(ControlError) -> ControlClient {
    do throws(AccessoryError) {
      return try await ControlClient.connect(to: path)
    } catch {
      throw .connection(error)
    }
  }
}
