// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import BridgeService
import CommandOutput
import Glibc
import Logging

/// The services whose accessories `top` shows.
enum TopServices {
  /// The sockets of the services; and where no service runs, one in this process, with these rules of alarms.
  static func find(_ rules: [AlarmRule]) async throws -> (places: [String], held: HeldService?) {
    var places: [String] = []
    var isRunning = false
    for place in ServicePlace.all() {
      switch await state(of: place) {
      case .answers:
        places.append(place)
        isRunning = true
      // A user who may not use the main socket may perhaps use the socket for readings.
      case .forbidden:
        let readings = ServicePlace.readings(beside: place)
        places.append(readings)
        if case .answers = await state(of: readings) { isRunning = true }
      case .absent: places.append(place)
      }
    }
    if isRunning { return (places, nil) }
    var options = try ServiceOptions.parse([])
    options.alarms.rules = rules
    // "none" means to use no service. This process's own service then has a place that no other program searches.
    if ServicePlace.all().isEmpty {
      options.socket = try UserDirectory.path() + "/top-\(getpid()).socket"
      options.readingsSocket = "none"
    }
    switch try await RunningService.takePlace(options) {
    case .taken(_, let path): return (places.contains(path) ? places : places + [path], nil)
    case .free(let sockets):
      let place = sockets.bridge.path ?? ""
      return ([place], try HeldService(options, sockets))
    }
  }

  private enum State { case answers, forbidden, absent }

  private static func state(of place: String) async -> State {
    do throws(AccessoryError) {
      let client = try await BridgeClient.connect(to: place, replyTimeout: .seconds(3))
      client.close()
      return .answers
    } catch {
      // A service with too many clients is running, too.
      return error.kind == .permissionDenied ? .forbidden : error.isNoService ? .absent : .answers
    }
  }
}

/// A service in this process, with all rules of a service: it opens what a profile fits, and sends nothing to other devices.
struct HeldService: Sendable {
  private let task: Task<Void, Never>

  fileprivate init(_ options: ServiceOptions, _ sockets: ControlSockets) throws {
    let service = RunningService(
      configuration: options.serviceConfiguration, log: Logger(label: "top") { _ in SwiftLogNoOpLogHandler() },
      sources: try KnownDevices.sources(), json: false, file: nil, reloadsOnHangUp: false)
    task = Task { try? await service.run(on: sockets, hooks: ServiceHooks()) }
  }

  /// Closes all accessories.
  func end() async {
    task.cancel()
    await task.value
  }
}
