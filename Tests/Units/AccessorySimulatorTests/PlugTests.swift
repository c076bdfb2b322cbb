// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// A simulator's coming and going, and its traces in the file system.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct PlugTests {
  private let directory: TemporaryDirectory
  private let announcements: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    announcements = try TemporaryDirectory()
  }

  private var link: String { directory.path + "/acc" }

  private func simulator(_ change: (inout AF1Simulator.Configuration) -> Void = { _ in }) -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = announcements.path
    configuration.link = link
    change(&configuration)
    return AF1Simulator(configuration)
  }

  private func open(_ path: String, timeout: Duration = .seconds(4)) async throws -> AF1Accessory {
    // A limit of time that a busy machine hardly reaches, and within what accessories remember.
    var options = AF1Exchange.Options()
    options.timeout = timeout
    let session = try await AccessorySession.open(TerminalConfiguration(path: path))
    return try await AF1Accessory.open(session, options: options)
  }

  private func devices() async throws -> [Device] { try await SimulatorSource(directory: announcements.path).devices() }

  @Test func aSimulatorIsAnnouncedWhileItIsPluggedIn() async throws {
    let simulator = simulator { $0.device.identity.name = "Gadget" }
    let path = try await simulator.plugIn()
    #expect(linkTarget(link) == path)
    var expected = Device(
      .node(path), link: link, source: .simulator, driver: "framed", name: "Gadget",
      manufacturer: "Accessory Bridge", model: "AF1-SIM", serialNumber: "SIM0001")
    (expected.firmwareRevision, expected.hardwareRevision) = ("1.0.0", "A")
    #expect(try await devices() == [expected])
    await simulator.unplug()
    #expect(directory.names() == [])
    #expect(announcements.names() == [])
    let again = try await simulator.plugIn()
    #expect(linkTarget(link) == again)
    #expect(try await devices().map(\.address.description) == [again])
    let accessory = try await open(link)
    #expect(try await accessory.battery().percent == 100)
    await accessory.close()
    await simulator.stop()
    #expect(directory.names() == [])
    #expect(announcements.names() == [])
    var seen: [AF1Simulator.Event] = []
    for await event in simulator.events { seen.append(event) }
    #expect(seen == [.pluggedIn(path: path), .unplugged, .pluggedIn(path: again), .unplugged])
  }

  /// The boot id shows that nothing but the cable was pulled.
  @Test func unpluggingIsNoRestart() async throws {
    let simulator = simulator()
    let first = try await open(try await simulator.plugIn())
    let before = first.link.exchange.hello?.bootID
    await simulator.unplug()
    let error = await #expect(throws: AccessoryError.self) { try await first.battery() }
    #expect(error?.kind == .disconnected)
    await first.close()
    let second = try await open(try await simulator.plugIn())
    #expect(before != nil)
    #expect(second.link.exchange.hello?.bootID == before)
    await second.close()
    await simulator.stop()
  }

  @Test func anUnplugAtARequestIsADisconnection() async throws {
    let simulator = simulator { $0.faults.unplug = .request(2) }
    let accessory = try await open(try await simulator.plugIn())
    #expect(try await accessory.echo([1]) == [1])
    let error = await #expect(throws: AccessoryError.self) { try await accessory.echo([2]) }
    #expect(error?.kind == .disconnected)
    await accessory.close()
    await simulator.stop()
  }

  @Test func aSimulatorPlugsItselfInAgain() async throws {
    let simulator = simulator {
      $0.faults.unplug = .request(1)
      $0.faults.replug = .milliseconds(1)
    }
    var events = simulator.events.makeAsyncIterator()
    let path = try await simulator.plugIn()
    #expect(await events.next() == .pluggedIn(path: path))
    for _ in 0..<3 {
      let accessory = try await open(link)
      let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
      #expect(error?.kind == .disconnected)
      await accessory.close()
      #expect(await events.next() == .unplugged)
      guard case .pluggedIn = await events.next() else {
        Issue.record("it is not plugged in again")
        break
      }
    }
    await simulator.stop()
  }

  /// The command that counts runs is run before the restart, and never again.
  @Test func aRestartFailsTheRequestThatRan() async throws {
    let simulator = simulator { $0.faults.reboot = .request(1) }
    // Two limits have to pass within the 10 s for which replies are kept, on a busy machine, too.
    let accessory = try await open(try await simulator.plugIn(), timeout: .seconds(2))
    let error = await #expect(throws: AccessoryError.self) { try await accessory.request(AF1Device.count) }
    #expect(error?.kind == .disconnected)
    #expect(await simulator.runs == 1)
    #expect(try await accessory.request(AF1Device.count) == [2, 0, 0, 0])
    await accessory.close()
    await simulator.stop()
  }

  // MARK: - Misuse

  @Test func pluggingInTwiceIsPluggingInOnce() async throws {
    let simulator = simulator()
    let path = try await simulator.plugIn()
    #expect(try await simulator.plugIn() == path)
    #expect(announcements.names().count == 1)
    await simulator.stop()
    #expect(announcements.names() == [])
    #expect(directory.names() == [])
  }

  /// At the same time, before there is a terminal.
  @Test func pluggingInTwiceAtOnceGivesOneTerminal() async throws {
    let simulator = simulator()
    async let one = simulator.plugIn()
    async let two = simulator.plugIn()
    #expect(try await one == two)
    #expect(announcements.names().count == 1)
    await simulator.stop()
    #expect(announcements.names() == [])
  }

  @Test func aStoppedSimulatorIsNotPluggedInAgain() async throws {
    let simulator = simulator()
    try await simulator.plugIn()
    await simulator.stop()
    await simulator.stop()
    let error = await #expect(throws: AccessoryError.self) { try await simulator.plugIn() }
    #expect(error?.kind == .cancelled)
    await simulator.unplug()
    #expect(announcements.names() == [])
  }

  @Test func aFileInPlaceOfALinkIsKept() async throws {
    try directory.write(Array("precious".utf8), to: "acc")
    let simulator = simulator()
    let error = await #expect(throws: AccessoryError.self) { try await simulator.plugIn() }
    #expect(error?.kind == .misconfigured)
    #expect(try SmallFile.read(link, limit: 100) == Array("precious".utf8))
    #expect(announcements.names() == [])
    await simulator.stop()
    #expect(exists(link))
  }

  @Test func aFailedAnnouncementRemovesTheLink() async throws {
    let simulator = simulator { $0.announcementDirectory = "/no/such/directory" }
    let error = await #expect(throws: AccessoryError.self) { try await simulator.plugIn() }
    #expect(error?.kind == .notFound)
    #expect(directory.names() == [], "the link goes too")
    await simulator.stop()
  }

  @Test func aLinkOfARunningSimulatorIsBusy() async throws {
    let first = simulator { $0.device.identity.serialNumber = "FIRST" }
    let path = try await first.plugIn()
    let second = simulator()
    let error = await #expect(throws: AccessoryError.self) { try await second.plugIn() }
    #expect(error?.kind == .busy)
    #expect(error?.message.contains("FIRST") == true)
    #expect(linkTarget(link) == path)
    #expect(announcements.names().count == 1)
    await first.stop()
    let next = try await second.plugIn()
    #expect(linkTarget(link) == next)
    await second.stop()
  }

  /// A killed simulator leaves its link behind, and its terminal's number is given out again.
  @Test func aStaleLinkIsReplaced() async throws {
    let other = simulator { $0.link = nil }
    let path = try await other.plugIn()
    #expect(symlink(path, link) == 0)
    let simulator = simulator()
    let own = try await simulator.plugIn()
    #expect(linkTarget(link) == own)
    await simulator.stop()
    await other.stop()
  }

  /// Whoever made a link over ours keeps it.
  @Test func aLinkThatSomebodyTookOverIsKept() async throws {
    let simulator = simulator()
    try await simulator.plugIn()
    #expect(unlink(link) == 0)
    #expect(symlink("elsewhere", link) == 0)
    await simulator.stop()
    #expect(linkTarget(link) == "elsewhere")
  }
}
