// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A client of a service, for the command, for ExternalAccessory, and for Swift programs.
///
/// Each reply is checked: its fields, its numbers (see `CheckedReply`) and its bytes. An invalid reply throws
/// `badData`. The service's own errors are converted to `AccessoryError`. In addition every call throws `disconnected`
/// when the service ends, `timedOut`, and `cancelled` when the task is cancelled.
///
/// A service can't exhaust a client's memory: a reply has at most 16 MiB, one reply is buffered at a time, and streams
/// are bounded as `BridgeStream` says. Code that stores devices from events limits them with `ReportedDevices`. Calls
/// are answered one after another; streams, loans and files use connections of their own.
package struct BridgeClient: Sendable {
  /// The path of the service's socket.
  package let socketPath: String
  /// The time limit of a call; nil for none.
  package var replyTimeout: Duration?
  private let connection: ControlClient

  /// The default time limit for connecting.
  private static let connecting = Duration.seconds(5)

  /// Connects to the service at the socket `place`. Throws `disconnected` when no service is there, `permissionDenied`, and
  /// `timedOut` when the queue of waiting clients is full.
  package static func connect(
    to place: String, replyTimeout: Duration? = nil
  ) async throws(AccessoryError) -> BridgeClient {
    let connection = try await ControlClient.connect(to: place, timeout: replyTimeout ?? connecting)
    return BridgeClient(socketPath: place, replyTimeout: replyTimeout, connection: connection)
  }

  /// Closes the connection; pending calls end with `cancelled`. The connection is also closed when this value is
  /// released.
  package func close() { connection.close() }

  // MARK: - The service's accessories

  /// The service's version, limits and counts.
  package func service() async throws(AccessoryError) -> Bridge.GetService.Reply { try await call(Bridge.GetService()) }

  /// All accessories of the service. With `absent` also those that were attached and are gone, and what was read of them last; an older
  /// service doesn't know these.
  package func list(absent: Bool = false) async throws(AccessoryError) -> [Bridge.Accessory] {
    guard absent else { return try await call(Bridge.List()).accessories }
    do throws(ControlError) {
      return try await connection.call(Bridge.List(absent: true), timeout: replyTimeout).accessories
    } catch {
      guard case .answer(let answer) = error, answer.isOfUnknownParameter("absent") else { throw error.accessoryError }
      return try await list()
    }
  }

  /// The accessory with this path, or whatever it is called. In errors `label` takes the place of the path.
  package func device(_ path: String, label: String? = nil) -> BridgeDevice {
    BridgeDevice(client: self, name: path, path: path, label: label ?? path)
  }

  /// This accessory, and no other that gets its path meanwhile. With `isLine`, the line that it is on.
  package func device(_ accessory: Bridge.Accessory, label: String? = nil, isLine: Bool = false) -> BridgeDevice {
    let device = isLine ? accessory.device.line : accessory.device
    let name = isLine ? accessory.key.map { String($0.dropLast(accessory.device.unitSuffix.count)) } : accessory.key
    return BridgeDevice(client: self, name: name ?? device.place, path: device.place, label: label ?? device.place)
  }

  /// The readings of the accessory with this name, nil for the only one: the series with these names, nil for all; of
  /// the last `time`, nil for all that is kept. `device` is nil for an accessory that is no longer there.
  package func history(
    of device: String?, _ names: [String]? = nil, last time: Duration? = nil
  ) async throws(AccessoryError) -> (device: Device?, series: [ReadingSeries]) {
    let since = time.map { Double($0.inNanoseconds) / 1e9 }
    let reply = try await call(Bridge.GetHistory(device: device, names: names, since: since))
    return (reply.device, reply.series.map(\.series))
  }

  /// An accessory's history with the energy of each hour, which an older service doesn't tell.
  package func energyHistory(
    of device: String?, _ names: [String]? = nil, last time: Duration
  ) async throws(AccessoryError) -> (device: Device?, series: [ReadingSeries], energy: Energy?) {
    let since = Double(time.inNanoseconds) / 1e9
    let reply = try await call(Bridge.GetHistory(device: device, names: names, since: since, energy: true))
    return (reply.device, reply.series.map(\.series), reply.energy?.energy)
  }

  /// Makes the service attach the device of this name with `profile`; see the interface. Returns when it is attached,
  /// or has failed.
  package func attach(_ device: String, profile: String? = nil) async throws(AccessoryError) -> Bridge.Attach.Reply {
    try await call(Bridge.Attach(device: device, profile: profile))
  }

  /// Gives the accessory with this name another name or another place; nil leaves it, an empty text removes it. Returns the accessory.
  package func name(
    _ device: String?, name: String? = nil, area: String? = nil
  ) async throws(AccessoryError) -> Device {
    try await call(Bridge.Name(device: device, name: name, area: area)).device
  }

  /// Makes the service forget an accessory that is gone.
  package func forget(_ device: String?) async throws(AccessoryError) -> Device {
    try await call(Bridge.Forget(device: device)).device
  }

  /// Makes the service attach the device at this path as soon as the system reports it, if it has this identity.
  package func expect(_ path: String, identity: String? = nil) async throws(AccessoryError) {
    do throws(ControlError) {
      _ = try await connection.call(Bridge.Expect(device: path, identity: identity), timeout: replyTimeout)
    } catch {
      // An older service compares the path alone.
      guard identity != nil, case .answer(let answer) = error, answer.isOfUnknownParameter("identity") else {
        throw error.accessoryError
      }
      try await expect(path)
    }
  }

  /// The events of all accessories, on a connection of its own: first one event for each attached accessory, then the
  /// changes. With `values` these include values, with `alarms` alarms, with `found` the devices that the service begins to open, and
  /// with `changes` other changes of the list, where the service isn't too old for them.
  package static func events(
    at place: String, values: Bool = false, alarms: Bool = false, found: Bool = false, changes: Bool = false,
    replyTimeout: Duration? = nil
  ) async throws(AccessoryError) -> BridgeEvents {
    let method = Bridge.Subscribe(values: values, alarms: alarms, found: found, changes: changes)
    return try await events(method, at: place, replyTimeout: replyTimeout) { $0.accessoryError }
  }

  // MARK: - Calls

  /// Makes a call on this connection. `failure` converts an error of the call.
  func call<Method: ControlMethod>(
    _ method: Method, _ failure: (ControlError) -> AccessoryError = \.accessoryError
  ) async throws(AccessoryError) -> Method.Reply {
    do throws(ControlError) {
      return try await connection.call(method, timeout: replyTimeout)
    } catch {
      if case .answer(let answer) = error {
        let name = Method.method.split(separator: ".").last.map(String.init) ?? Method.method
        if answer.isOfUnknownMethod { throw await tooOld(for: name) }
        // Options are the newest parameters.
        let options = ((try? JSON(encoding: method))?.fields ?? [:]).filter { $0.value == .bool(true) }.keys
        if let unknown = options.first(where: { answer.isOfUnknownParameter($0) }) {
          throw await tooOld(for: "\(unknown), and has sent nothing")
        }
      }
      throw failure(error)
    }
  }

  /// The error for a method or parameter that the service doesn't know because it is older than this program.
  func tooOld(for name: String) async -> AccessoryError {
    let facts = (try? await connection.call("org.varlink.service.GetInfo", timeout: replyTimeout)) ?? [:]
    let its = ["product", "version"].compactMap { facts[$0]?.text }.filter { !$0.isEmpty }.joined(separator: " ")
    return AccessoryError(
      .unsupported,
      "the service at \(socketPath)\(its.isEmpty ? "" : " (\(SafeText.escape(its)))") doesn't know \(name): it is older than this "
        + "program. Install the service of this program's version and restart it: systemctl restart accessory-bridge, "
        + "or end bridge-cli serve and start it again")
  }

  /// Makes a call with several replies, on a new connection that is used for this call only.
  static func stream<Method: ControlMethod>(
    _ method: Method, at place: String, replyTimeout: Duration?,
    _ failure: @escaping @Sendable (ControlError) -> AccessoryError = { $0.accessoryError }
  ) async throws(AccessoryError) -> BridgeStream<Method> {
    let connection = try await ControlClient.connect(to: place, timeout: replyTimeout ?? connecting)
    do throws(ControlError) {
      return BridgeStream(answers: try connection.stream(method), failure: failure)
    } catch {
      throw failure(error)
    }
  }
}

extension BridgeClient {
  /// The events of a subscription.
  static func events(
    _ method: Bridge.Subscribe, at place: String, replyTimeout: Duration?,
    _ failure: @escaping @Sendable (ControlError) -> AccessoryError
  ) async throws(AccessoryError) -> BridgeEvents {
    let failure: @Sendable (ControlError) -> AccessoryError = { error in
      guard case .answer(let answer) = error else { return failure(error) }
      // A service that shuts down reports the call as cancelled, although this program hasn't cancelled it.
      if answer.accessoryError.kind == .cancelled { return .subscriptionEnded(by: place) }
      for parameter in ["values", "alarms", "found", "changes"] where answer.isOfUnknownParameter(parameter) {
        return AccessoryError(.unsupported, "the service at \(place) reports no \(parameter)")
      }
      return failure(error)
    }
    var events = BridgeEvents(
      answers: try await stream(method, at: place, replyTimeout: replyTimeout, failure), place: place)
    // The newest parameter is left out first.
    var less = method
    for parameter in [\Bridge.Subscribe.changes, \.found, \.alarms, \.values] where less[keyPath: parameter] != nil {
      less[keyPath: parameter] = nil
      events.older.append(less)
    }
    events.again = { (older: Bridge.Subscribe) async throws(AccessoryError) in
      try await stream(older, at: place, replyTimeout: replyTimeout, failure)
    }
    return events
  }
}
