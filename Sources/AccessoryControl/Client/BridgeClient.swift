// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A client of a service. The command, ExternalAccessory and Swift programs use it.
///
/// Every answer is checked: its fields, its numbers (see `CheckedReply`) and its bytes. An invalid one throws
/// `badData`. The service's own errors come as the accessory's error that they stand for; besides, every call throws
/// `disconnected` when the service goes away, `timedOut`, and `cancelled` when the task is cancelled.
///
/// A service can't exhaust a client's memory: no answer is longer than 16 MiB, one is held at a time, and streams are
/// bounded as `BridgeStream` says. Who keeps what events tell of devices bounds that by `ReportedDevices`. Calls are
/// answered one after another; streams, loans and files have connections of their own.
package struct BridgeClient: Sendable {
  /// Where the service answers.
  package let place: String
  /// How long it may take to answer a call; nil for as long as it likes.
  package var patience: Duration?
  private let connection: ControlClient

  /// How long a service may take to take a client in, unless somebody says otherwise.
  private static let connecting = Duration.seconds(5)

  /// Connects to the service that answers at `place`. Throws `notFound` when none does, `permissionDenied`, `timedOut`
  /// when too many wait there.
  package static func connect(
    to place: String, patience: Duration? = nil
  ) async throws(AccessoryError) -> BridgeClient {
    let connection = try await ControlClient.connect(to: place, timeout: patience ?? connecting)
    return BridgeClient(place: place, patience: patience, connection: connection)
  }

  /// Closes the connection; waiting calls end with `cancelled`. It is also closed when it is released.
  package func close() { connection.close() }

  // MARK: - The service's accessories

  /// What the service is, and how much it has.
  package func service() async throws(AccessoryError) -> Bridge.GetService.Reply { try await call(Bridge.GetService()) }

  /// What the service has.
  package func list() async throws(AccessoryError) -> [Bridge.Accessory] { try await call(Bridge.List()).accessories }

  /// The accessory of this path, for calls that concern it. In errors it is called `label`.
  package func device(_ path: String, label: String? = nil) -> BridgeDevice {
    BridgeDevice(client: self, path: path, label: label ?? path)
  }

  /// Makes the service hold the device of this name with `profile`; see the interface. Returns when it is attached or
  /// has failed.
  package func attach(_ device: String, profile: String? = nil) async throws(AccessoryError) -> Bridge.Attach.Reply {
    try await call(Bridge.Attach(device: device, profile: profile))
  }

  /// Makes the service hold the device at this path as soon as the system reports it.
  package func expect(_ path: String) async throws(AccessoryError) { _ = try await call(Bridge.Expect(device: path)) }

  /// The events of all accessories, on a connection of its own: first those that are there, then the changes.
  package static func events(at place: String, patience: Duration? = nil) async throws(AccessoryError) -> BridgeEvents {
    try await events(Bridge.Subscribe(), at: place, patience: patience) { $0.accessoryError }
  }

  // MARK: - Calls

  /// Makes a call on this connection. `failure` makes the accessory's error of that of the call.
  func call<Method: ControlMethod>(
    _ method: Method, _ failure: (ControlError) -> AccessoryError = \.accessoryError
  ) async throws(AccessoryError) -> Method.Reply {
    do throws(ControlError) {
      return try await connection.call(method, timeout: patience)
    } catch {
      if case .answer(let answer) = error {
        let name = Method.method.split(separator: ".").last.map(String.init) ?? Method.method
        if answer.isOfUnknownMethod { throw await tooOld(for: name) }
        if let unknown = ["write", "dry_run"].first(where: { answer.isOfUnknownParameter($0) }) {
          throw await tooOld(for: "\(unknown), and has sent nothing")
        }
      }
      throw failure(error)
    }
  }

  /// The error of a method or a parameter that the service doesn't know: it is older than this program.
  func tooOld(for name: String) async -> AccessoryError {
    let facts = (try? await connection.call("org.varlink.service.GetInfo", timeout: patience)) ?? [:]
    let its = ["product", "version"].compactMap { facts[$0]?.text }.filter { !$0.isEmpty }.joined(separator: " ")
    return AccessoryError(
      .unsupported,
      "the service at \(place)\(its.isEmpty ? "" : " (\(SafeText.escape(its)))") doesn't know \(name): it is older than this "
        + "program. Install the service of this program's version and start it anew: systemctl restart accessory-bridge, "
        + "or end bridge-cli serve and start it again")
  }

  /// Makes a call with many answers, on a connection of its own, which it takes for itself.
  static func stream<Method: ControlMethod>(
    _ method: Method, at place: String, patience: Duration?,
    _ failure: @escaping @Sendable (ControlError) -> AccessoryError = { $0.accessoryError }
  ) async throws(AccessoryError) -> BridgeStream<Method> {
    let connection = try await ControlClient.connect(to: place, timeout: patience ?? connecting)
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
    _ method: Bridge.Subscribe, at place: String, patience: Duration?,
    _ failure: @escaping @Sendable (ControlError) -> AccessoryError
  ) async throws(AccessoryError) -> BridgeEvents {
    let failure: @Sendable (ControlError) -> AccessoryError = { error in
      guard case .answer(let answer) = error else { return failure(error) }
      // A service that shuts down reports the call as cancelled, but this program hasn't cancelled it.
      if answer.accessoryError.kind == .cancelled { return .toldNoMore(by: place) }
      if answer.isOfUnknownParameter("values") { return AccessoryError(.unsupported, "\(place) tells no values") }
      return failure(error)
    }
    var events = BridgeEvents(answers: try await stream(method, at: place, patience: patience, failure), place: place)
    if method.values == true {
      events.older = { () async throws(AccessoryError) in
        try await stream(Bridge.Subscribe(device: method.device), at: place, patience: patience, failure)
      }
    }
    return events
  }
}
