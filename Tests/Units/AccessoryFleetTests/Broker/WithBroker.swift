// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import Glibc
import Logging
import TestSupport
import Testing

/// Tests with Debian's mosquitto, and with whole programs.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct WithBroker {
  /// What a test has: a broker, somebody who looks at everything on it, and machines.
  struct Scene: Sendable {
    let broker: TestBroker
    let onlooker: Onlooker
    let gateways: [TestGateway]
    let directory: TemporaryDirectory

    /// The first machine.
    var gateway: TestGateway { gateways[0] }
  }

  /// Runs a test with a broker, somebody who looks on, and machines of these names; ends all of them afterwards.
  static func with(
    _ access: TestBroker.Access = .open, isPersistent: Bool = false, names: [String] = ["attic"],
    _ body: (Scene) async throws -> Void
  ) async throws {
    await places.take()
    let result: Result<Void, any Error>
    do {
      let directory = try TemporaryDirectory()
      let broker = try await TestBroker(directory, access, isPersistent: isPersistent)
      let scene = Scene(
        broker: broker, onlooker: try Onlooker(broker),
        gateways: try names.map { try TestGateway($0, directory: directory) }, directory: directory)
      do {
        try await scene.onlooker.isReady()
        result = .success(try await body(scene))
      } catch {
        result = .failure(error)
      }
      for gateway in scene.gateways { await gateway.end() }
      await scene.onlooker.end()
      try? await broker.stop()
    } catch {
      result = .failure(error)
    }
    await places.giveBack()
    try result.get()
  }

  /// So many tests have programs at a time.
  private static let places = Places(4)
}

/// A number of places, for which tests wait.
actor Places {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  func take() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func giveBack() {
    guard waiting.isEmpty else { return waiting.removeFirst().resume() }
    free += 1
  }
}

extension WithBroker.Scene {
  /// Waits until a machine and its accessory are on the broker.
  func isUp(_ gateway: TestGateway, id: String = "SIM0001", percent: Int? = 57) async throws {
    try await onlooker.wait(gateway.topic("availability"), "online")
    try await onlooker.wait(gateway.topic("\(id)/availability"), "online")
    if let percent { try await onlooker.wait(gateway.topic("\(id)/state"), "\"percent\":\(percent)") }
    try await onlooker.wait("homeassistant/device/\(gateway.name)/\(id)/config", "\"components\"")
  }

  /// Plugs an accessory in, starts the service and the publisher, and waits until all is on the broker.
  @discardableResult
  func start(_ gateway: TestGateway, percent: Int = 57, _ arguments: String...) async throws -> Program {
    _ = try await gateway.plug("--percent", "\(percent)")
    try gateway.serve()
    let publisher = try gateway.publish(broker, arguments)
    try await isUp(gateway, percent: percent)
    return publisher
  }

  /// Waits for two seconds in which nothing is published. Fails when there is none within fifteen.
  func isQuiet() async throws {
    var last = onlooker.seen.value.total
    for _ in 0..<7 {
      try await Task.sleep(for: .seconds(2))
      let now = onlooker.seen.value.total
      if now == last { return }
      last = now
    }
    Issue.record("something is published again and again: \(onlooker.seen.value.counts)")
  }
}

extension Logger {
  /// A log that nobody reads.
  static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
