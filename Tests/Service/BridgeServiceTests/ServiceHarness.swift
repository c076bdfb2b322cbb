// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import FamilyEV3
import FamilyEV3Simulator
import Logging
import TestSupport

@testable import BridgeService

/// A service in this process with a socket of its own, which sees only the simulators of one test.
final class ServiceHarness: Sendable {
  let service: BridgeService
  let path: String
  /// Where it answers those who may only read.
  let readingsPath: String
  /// What the service has said.
  let log = Watched<[String]>([])
  /// What its manager was told.
  let statuses: Watched<[String]>
  let directory: TemporaryDirectory
  private let server: ControlServer
  private let simulators = Watched<[AF1Simulator]>([])
  private let bricks = Watched<[EV3Simulator]>([])
  private let lines = Watched<[SerialSimulator<DescribedUnits>]>([])

  static let information = ServiceInformation(
    vendor: "Tests", product: "Service", version: "1", url: "https://example.org/")

  private init(
    _ change: (inout ServiceConfiguration) -> Void, _ profiles: [Profile], _ limits: ControlServer.Limits,
    _ drivers: DriverLibrary, _ clock: (any TimerClock)?, _ events: AsyncStream<Bridge.Event>.Continuation?
  ) async throws {
    let (log, statuses) = (log, Watched<[String]>([]))
    self.statuses = statuses
    directory = try TemporaryDirectory()
    path = directory.path + "/bridge.socket"
    readingsPath = directory.path + "/readings.socket"
    var configuration = ServiceConfiguration(information: Self.information)
    configuration.reconnect = .init(interval: .milliseconds(20))
    configuration.retry = .init(interval: .milliseconds(20))
    (configuration.socket, configuration.readingsSocket) = (path, readingsPath)
    configuration.clientLimits = limits
    change(&configuration)
    let logger = Self.logger(log)
    var hooks = ServiceHooks(onStatus: { text in statuses.update { $0.append(text) } })
    if let events { hooks.onEvent = { events.yield($0) } }
    let service = BridgeService(
      configuration, profiles: ProfileStore(profiles), drivers: drivers, log: logger,
      hooks: hooks, clock: clock)
    self.service = service
    server = try ControlServer(
      try ControlSocket.make(at: path), readings: try ControlSocket.make(at: readingsPath), handler: service,
      limits: limits
    ) {
      service.noteClients($0)
    }
    await service.watch([SimulatorSource(directory: directory.path)])
  }

  /// A logger whose lines a test can see.
  static func logger(_ lines: Watched<[String]>) -> Logger {
    var logger = Logger(label: "test") { _ in TestLog(lines: lines) }
    logger.logLevel = .trace
    return logger
  }

  /// Runs a test with a service, and ends it.
  static func with(
    profiles: [Profile] = [.af1], limits: ControlServer.Limits = .init(), drivers: DriverLibrary = .builtIn,
    clock: (any TimerClock)? = nil, events: AsyncStream<Bridge.Event>.Continuation? = nil,
    _ change: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: (ServiceHarness) async throws -> Void
  ) async throws {
    let harness = try await ServiceHarness(change, profiles, limits, drivers, clock, events)
    let result: Result<Void, any Error>
    do { result = .success(try await body(harness)) } catch { result = .failure(error) }
    await harness.end()
    try result.get()
  }

  private func end() async {
    for simulator in simulators.value { await simulator.stop() }
    for brick in bricks.value { await brick.stop() }
    for line in lines.value { await line.stop() }
    await server.close()
    await service.close()
  }

  // MARK: - Accessories

  /// A simulator that is plugged in.
  @discardableResult
  func simulate(
    _ serial: String, name: String? = nil, _ change: (inout AF1Simulator.Configuration) -> Void = { _ in }
  ) async throws -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = directory.path
    configuration.device.identity.serialNumber = serial
    if let name { configuration.device.identity.name = name }
    change(&configuration)
    let simulator = AF1Simulator(configuration)
    simulators.update { $0.append(simulator) }
    try await simulator.plugIn()
    return simulator
  }

  /// A pretended brick that is plugged in.
  @discardableResult
  func simulateBrick(_ change: (inout EV3Simulator.Configuration) -> Void = { _ in }) async throws -> EV3Simulator {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = directory.path
    change(&configuration)
    let brick = EV3Simulator(configuration)
    bricks.update { $0.append(brick) }
    try await brick.plugIn()
    return brick
  }

  /// A line with several pretended accessories of a described protocol, which is plugged in.
  @discardableResult
  func simulateLine(
    _ serial: String, _ name: String, units: [Int], _ change: (inout DescribedUnits) throws -> Void = { _ in }
  ) async throws -> SerialSimulator<DescribedUnits> {
    guard let described = DescriptionLibrary.builtIn.described(name) else { throw Hang("a protocol \(name)") }
    var devices = try DescribedUnits(
      DescribedDevice(described.description, serialNumber: serial), units: units)
    try change(&devices)
    var configuration = SerialSimulator<DescribedUnits>.Configuration(devices, seed: 1)
    configuration.announcementDirectory = directory.path
    let line = SerialSimulator(configuration)
    lines.update { $0.append(line) }
    try await line.plugIn()
    return line
  }

  /// Announces a terminal, as a simulator does.
  func announce(
    _ path: String, serial: String?, name: String? = nil, driver: String = "framed", file: String = "device"
  ) throws -> AnnouncementFile {
    try AnnouncementFile(
      Announcement(path: path, driver: driver, name: name, serial: serial), name: file, directory: directory.path)
  }

  // MARK: - Clients

  /// A new connection.
  func client() async throws -> ControlClient { try await ControlClient.connect(to: path) }

  /// A new connection of somebody who may only read.
  func reader() async throws -> ControlClient { try await ControlClient.connect(to: readingsPath) }

  /// Waits until the service has said something.
  func said(_ text: String, times: Int = 1) async throws {
    let log = log
    try await withThrowingTaskGroup { group in
      group.addTask { _ = try await log.wait { lines in lines.count { $0.contains(text) } >= times } }
      group.addTask {
        try await Task.sleep(for: Duration.seconds(60).patient)
        throw Hang("\(text); the last lines were:\n\(log.value.suffix(10).joined(separator: "\n"))")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// The state of an accessory; nil when there is none of this identity.
  func state(_ id: String) async throws -> Bridge.AttachmentState? {
    try await client().call(Bridge.List()).accessories.first { $0.device.id == id }?.state
  }

  /// Waits until the accessory is attached and has been asked for everything once.
  func attached(_ id: String) async throws {
    try await said("\(id) is attached at")
    try await eventually("\(id)'s first readings") { await self.service.hasReadings(id) }
  }
}

extension BridgeService {
  /// Whether there are an identity, a battery and a status.
  func hasReadings(_ id: String) -> Bool {
    guard let attachment = attachments.ordered.first(where: { $0.device.id == id }) else { return false }
    let readings = attachment.readings
    return readings.identity != nil && readings.battery != nil && readings.status != nil
  }
}

struct TestLog: LogHandler {
  let lines: Watched<[String]>
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let line = "\(event.level) \(event.message)"
    lines.update { $0.append(line) }
  }
}

/// The name of the error that a call ended with, without its interface.
func errorName(of body: () async throws(ControlError) -> Void) async -> String? {
  do throws(ControlError) {
    try await body()
    return nil
  } catch {
    if case .answer(let answer) = error { return answer.name.split(separator: ".").last.map(String.init) }
    return "connection: \(error)"
  }
}
