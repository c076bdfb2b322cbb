// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// Bricks over the network: names, greetings, and who isn't one.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct EV3NetworkTests {
  @Test func networkAddressesAreReadOrRefused() throws {
    let good: [(String, String, UInt16)] = [
      ("tcp:192.168.0.7:5555", "192.168.0.7", 5_555), ("tcp:ev3.local:1", "ev3.local", 1),
      ("tcp:[fe80::1]:5555", "fe80::1", 5_555),
    ]
    for (text, host, port) in good {
      let address = try #require(DeviceAddress(text))
      #expect(address == .tcp(NetworkAddress(host: host, port: port)))
      #expect(address.description == text)
      let device = try DeviceName(text).device(among: [])
      #expect(
        device.address.description == text && device.address.transport == .tcp && device.transports == [.tcp]
          && device.terminal == nil)
    }
    for text in [
      "tcp:", "tcp:host", "tcp:host:", "tcp::5555", "tcp:host:0", "tcp:host:65536", "tcp:a:b:5", "tcp:a b:5",
      "tcp:a/b:5", "udp:host:5", "TCP:host:5",
    ] {
      #expect(DeviceAddress(text) == nil, "\(text)")
    }
  }

  @Test func whatIsAnnouncedIsFound() async throws {
    let directory = try TemporaryDirectory()
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.connection = .network(port: 0)
    configuration.announcementDirectory = directory.path
    let simulator = EV3Simulator(configuration)
    let path = try await simulator.plugIn()
    let devices = try await SimulatorSource(directory: directory.path).devices()
    #expect(devices.map(\.address.description) == [path] && devices.map(\.driver) == ["ev3"])
    let device = try DeviceName("001653000001").device(among: devices)
    #expect(ProfileStore.builtIn.profile(for: device) == .ev3)
    #expect(Profile.ev3.protocolStrings == ["COM.LEGO.MINDSTORMS.EV3"])
    let brick = try await EV3Brick.open(try await DeviceOpener(device, profile: .ev3).session())
    #expect(try await brick.battery().percent == 100)
    await brick.close()
    await simulator.stop()
    #expect(try await SimulatorSource(directory: directory.path).devices() == [])
  }

  /// One host at a time, and after it the next.
  @Test func hostsComeOneAfterAnother() async throws {
    let bench = try await EV3Bench.open(.network)
    let second = await #expect(throws: AccessoryError.self) { try await EV3Bench.open(bench.path) }
    #expect(second?.kind == .disconnected)
    #expect(try await bench.brick.ask(.batteryPercent) == 100)
    await bench.brick.close()
    // Its going may be seen a little later.
    var third: EV3Brick?
    try await eventually("the next host") {
      third = try? await EV3Bench.open(bench.path)
      return third != nil
    }
    #expect(try await third?.ask(.batteryPercent) == 100)
    await third?.close()
    await bench.simulator.stop()
  }

  /// As ev3_dc says it, and as the library of BrianPeek does; in two pieces, too.
  @Test(arguments: [
    ["GET /target?sn=001653000001VMTP1.0\nProtocol: EV3"], ["GET /target?sn=\r\nProtocol:EV3\r\n\r\n"],
    ["GET /tar", "get?sn=\r\nProtocol:EV3\r", "\n\r\n"],
  ]) func aBrickAcceptsTheGreetingsOfOtherLibraries(pieces: [String]) async throws {
    let bench = try await EV3Bench.open(.network)
    await bench.brick.close()
    let address = try #require(NetworkAddress(String(bench.path.dropFirst("tcp:".count))))
    var answer: [UInt8] = []
    // Until the brick has seen that its first host is gone.
    while answer.isEmpty {
      let session = AccessorySession(try await DescriptorTransport.open(address))
      for piece in pieces { try? await session.write(piece.utf8) }
      for try await piece in session.input {
        answer += piece
        if answer.count >= 16 { break }
      }
      await session.close()
    }
    #expect(String(decoding: answer, as: UTF8.self) == "Accept:EV340\r\n\r\n")
    await bench.simulator.stop()
  }

  @Test func whoGreetsOtherwiseIsSentAway() async throws {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.connection = .network(port: 0)
    let simulator = EV3Simulator(configuration)
    let address = try #require(NetworkAddress(String(try await simulator.plugIn().dropFirst("tcp:".count))))
    let session = AccessorySession(try await DescriptorTransport.open(address))
    try await session.write("GET / HTTP/1.1\r\n\r\n".utf8)
    let error = await #expect(throws: AccessoryError.self) { for try await _ in session.input {} }
    #expect(error?.kind == .disconnected)
    await session.close()
    await simulator.stop()
  }

  // MARK: - Who isn't a brick

  /// Takes one connection and says `answer` to whatever comes.
  private func server(_ answer: String?) async throws -> NetworkListener {
    try await NetworkListener.listen(at: "127.0.0.1", port: 0) { client in
      client.input.onReadable {
        var bytes: [UInt8] = []
        switch client.input.take(into: &bytes) {
        case .bytes: if let answer { _ = client.output.offer(Array(answer.utf8)) }
        case .nothing: break
        case .end: client.beginClose()
        }
      }
    }
  }

  @Test func anAnswerThatIsNoGreetingIsBadData() async throws {
    let listener = try await server("HTTP/1.1 400 Bad Request\r\n\r\n")
    let error = await #expect(throws: AccessoryError.self) {
      try await EV3Bench.open(DeviceAddress.tcp(listener.address).description)
    }
    #expect(error?.kind == .badData)
    listener.close()
  }

  @Test func aGreetingWithoutAnswerTimesOut() async throws {
    let listener = try await server(nil)
    let clock = ManualClock()
    let transport = try await DescriptorTransport.open(listener.address)
    let opening = Task { try await EV3Brick.open(AccessorySession(transport), clock: clock) }
    try await clock.waitForPending()
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(error?.kind == .timedOut)
    listener.close()
  }

  @Test func anAddressWhereNobodyListensIsDisconnected() async throws {
    let listener = try await server(nil)
    let address = listener.address
    listener.close()
    var error: AccessoryError?
    // The socket is closed on a thread of its own.
    try await eventually("nobody to listen") {
      do throws(AccessoryError) {
        await (try DescriptorTransport.open(address)).close()
      } catch let failure {
        error = failure
      }
      return error?.code == .errno(ECONNREFUSED)
    }
    #expect(error?.kind == .disconnected)
    #expect(error?.message.contains("nothing listens at \(DeviceAddress.tcp(address))") == true)
    let unknown = await #expect(throws: AccessoryError.self) {
      try await DescriptorTransport.open(NetworkAddress(host: "no-such-host.invalid", port: 1))
    }
    #expect(unknown?.kind == .notFound)
  }
}
