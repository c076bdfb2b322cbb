// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// An event from BlueZ's daemon, bluetoothd.
package enum BlueZEvent: Sendable, Equatable {
  /// The object at this path was added, changed or removed.
  case changed(String)
  /// The characteristic at this path has sent a value.
  case value(String, [UInt8])
  /// bluetoothd has ended, or its connection to the bus has.
  case gone(AccessoryError)
  /// bluetoothd has started again, and its objects are known.
  case returned
}

/// A connection to bluetoothd over the system bus, on the I/O thread. It makes no calls by itself, and has timers only
/// while a caller waits. Its requests to bluetoothd, such as a search for devices, end with it.
package actor BlueZ: IOActor {
  package nonisolated let io: IOThread
  /// The objects that bluetoothd has now.
  package private(set) var objects = BluetoothObjects()
  private var bus: BusConnection?
  /// The bus's address; empty for the system bus.
  let place: String
  /// bluetoothd's unique name on the bus; empty while it doesn't run. Only its signals count, because any program can send us
  /// signals.
  private var owner = ""
  private var hasEnded = false
  private var observers: [Int: @Sendable (BlueZEvent, BluetoothObjects) -> Void] = [:]
  private var nextObserver = 0

  /// The attempts to get the objects of a bluetoothd that has just started: for a minute, plus the time of failing
  /// calls.
  private static let reloads = 9
  static let name = "org.bluez"
  private static let busName = "org.freedesktop.DBus"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let manager = "org.freedesktop.DBus.ObjectManager"
  private static let rules = [managerRule, propertiesRule + "'/org/bluez'", ownerRule]
  private static let managerRule = "type='signal',sender='\(name)',interface='\(manager)'"
  private static let changeRule =
    "type='signal',sender='\(name)',interface='\(properties)',member='PropertiesChanged',"
  private static let propertiesRule = changeRule + "path_namespace="
  private static let adapterRule = changeRule + "path="
  private static let ownerRule =
    "type='signal',sender='\(busName)',interface='\(busName)',member='NameOwnerChanged',arg0='\(name)'"

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Begins a conversation over the bus at `address`, by default the system bus.
  ///
  /// Throws `disconnected` when there is no system bus or bluetoothd doesn't run, and `permissionDenied` when the bus
  /// doesn't let this user access it.
  ///
  /// With `awaitsDaemon` it is no error if bluetoothd doesn't run: `returned` reports when it does. `limit` is the time
  /// limit for getting the objects.
  package static func open(
    _ address: String? = nil, awaitsDaemon: Bool = false, within limit: Duration = .seconds(10), io: IOThread = .shared
  ) async throws(AccessoryError) -> BlueZ {
    let bluez = BlueZ(address ?? "", io)
    try await bluez.start(address, awaitsDaemon: awaitsDaemon, limit)
    return bluez
  }

  /// Whether the bus is still there. Without it bluetoothd can't return.
  package var hasBus: Bool { bus != nil }

  private init(_ place: String, _ io: IOThread) { (self.place, self.io) = (place, io) }

  deinit { bus?.beginClose() }

  private func start(
    _ address: String?, awaitsDaemon: Bool, _ limit: Duration
  ) async throws(AccessoryError) {
    let bus = BusConnection(io: io) { [weak self] signal in
      self?.enter(signal) { $0.take($1) }
    } onEnd: { [weak self] failure in
      self?.enter(failure) { $0.end($1) }
    }
    self.bus = bus
    try await attempt { () throws(AccessoryError) in
      do throws(BusFailure) {
        try await bus.open(address, rules: Self.rules)
        let owner = try await findOwner(bus, awaitsDaemon: awaitsDaemon, limit)
        // It may have started since the bus answered; a signal has reported that.
        if self.owner.isEmpty { self.owner = owner }
        if !self.owner.isEmpty { try await load(limit) }
      } catch {
        throw AccessoryError(starting: error)
      }
    } onFailure: { _ in
      await bus.close()
    }
  }

  /// bluetoothd's unique name; empty if it doesn't run and that is no error.
  private func findOwner(
    _ bus: BusConnection, awaitsDaemon: Bool, _ limit: Duration
  ) async throws(BusFailure) -> String {
    do throws(BusFailure) {
      let call = BusCall(Self.busName, "/org/freedesktop/DBus", Self.busName, "GetNameOwner", [.text(Self.name)])
      return try await bus.call(call, within: limit).values.first?.text ?? ""
    } catch {
      guard awaitsDaemon, error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
      return ""
    }
  }

  private func load(_ limit: Duration = .seconds(10)) async throws(BusFailure) {
    guard let bus else { throw .disconnected }
    let before = owner
    let reply = try await bus.call(BusCall(Self.name, "/", Self.manager, "GetManagedObjects"), within: limit)
    if owner == before, reply.sender == owner { objects.replace(reply) }
  }

  /// From now on, follows only the device at this path and its services. Signals about other devices, for example that BlueZ forgets
  /// one, would wake this program needlessly. The other objects keep their current state.
  ///
  /// With `adapter`, it also follows that adapter, but not its other devices.
  func follow(only device: String, and adapter: String? = nil) async throws(BusFailure) {
    guard let bus else { throw .disconnected }
    var rules = [
      // A path that ends with a slash matches all paths below it.
      Self.managerRule + ",arg0path='\(device)'", Self.managerRule + ",arg0path='\(device)/'",
      Self.propertiesRule + "'\(device)'", Self.ownerRule,
    ]
    if let adapter { rules += [Self.managerRule + ",arg0path='\(adapter)'", Self.adapterRule + "'\(adapter)'"] }
    try await bus.watchOnly(rules)
  }

  /// Ends the connection, and with it this program's search and notifications.
  package func close() async {
    hasEnded = true
    observers = [:]
    let bus = bus
    self.bus = nil
    await bus?.close()
  }

  // MARK: - Asking

  /// Calls a method of one of bluetoothd's objects.
  package func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = [],
    within limit: Duration = .seconds(10)
  ) async throws(BusFailure) -> [BusValue] {
    guard let bus, !owner.isEmpty else { throw .disconnected }
    return try await bus.call(BusCall(Self.name, path, interface, member, arguments), within: limit).values
  }

  /// Calls a method and ignores its result.
  package func post(_ path: String, _ interface: String, _ member: String, _ arguments: [BusArgument] = []) async {
    await bus?.post(BusCall(Self.name, path, interface, member, arguments))
  }

  /// Makes an object whose methods bluetoothd may call. `body` is called on the I/O thread; its result is the answer. Calls by other
  /// programs are refused.
  package func serve(
    _ path: String, _ body: @escaping @Sendable (BusMessage) async throws(BusFailure) -> [BusArgument]
  ) async throws(BusFailure) {
    guard let bus else { throw .disconnected }
    try await bus.serve(path) { [weak self] request in self?.enter { $0.asked(request, body) } }
  }

  /// Makes an object and all objects below it, whose methods bluetoothd may call. `body` is called on the I/O thread, in the order of
  /// the calls. Answer each call by `answer`, at any time.
  package func serveTree(_ path: String, _ body: @escaping @Sendable (BusRequest) -> Void) async throws(BusFailure) {
    guard let bus else { throw .disconnected }
    try await bus.serveTree(path) { [weak self] request in
      self?.enter(request) { bluez, request in
        guard request.message.sender == bluez.owner, !bluez.owner.isEmpty else {
          return bluez.answer(request.id, .failure(BusFailure("org.freedesktop.DBus.Error.AccessDenied")))
        }
        body(request)
      }
    }
  }

  /// Answers a call.
  package func answer(_ request: Int, _ result: Result<[BusArgument], BusFailure>) {
    bus?.enter(result) { $0.answer(request, $1) }
  }

  /// Sends a signal from one of our objects.
  package func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusArgument]) {
    bus?.enter(values) { $0.signal(path, interface, member, $1) }
  }

  private func asked(
    _ request: BusRequest, _ body: @escaping @Sendable (BusMessage) async throws(BusFailure) -> [BusArgument]
  ) {
    guard let bus else { return }
    let isBluetoothd = request.message.sender == owner && !owner.isEmpty
    Task {
      do throws(BusFailure) {
        guard isBluetoothd else { throw BusFailure("org.freedesktop.DBus.Error.AccessDenied") }
        await bus.answer(request.id, .success(try await body(request.message)))
      } catch {
        await bus.answer(request.id, .failure(error))
      }
    }
  }

  /// Calls `body` on the I/O thread with every event and the objects after it, until the result is passed to `stopObserving`.
  package func observe(_ body: @escaping @Sendable (BlueZEvent, BluetoothObjects) -> Void) -> Int {
    defer { nextObserver += 1 }
    observers[nextObserver] = body
    return nextObserver
  }

  /// Ends what `observe` began.
  package func stopObserving(_ key: Int) { observers[key] = nil }

  /// Waits until `look` finds something in the objects. Throws the error that it finds, `otherwise` when the time is up,
  /// `disconnected` when bluetoothd ends, and `cancelled`.
  package func first<Value: Sendable>(
    within limit: Duration, otherwise late: AccessoryError,
    _ look: @escaping @Sendable (BluetoothObjects) -> Result<Value, AccessoryError>?
  ) async throws(AccessoryError) -> Value {
    if let found = look(objects) { return try found.get() }
    let result = OneShot<Result<Value, AccessoryError>>()
    let key = observe { event, objects in
      if case .gone(let error) = event { result.finish(.failure(error)) }
      if let found = look(objects) { result.finish(found) }
    }
    let timer = io.schedule(at: io.now + limit) { result.finish(.failure(late)) }
    let found = await result.value(whenCancelled: .failure(AccessoryError(.cancelled, "waiting was cancelled")))
    io.cancel(timer)
    stopObserving(key)
    return try found.get()
  }

  // MARK: - Following

  private func take(_ signal: BusMessage) {
    guard !hasEnded else { return }
    if signal.sender == Self.busName, signal.member == "NameOwnerChanged" { return ownerChanged(signal) }
    // Any program can send us signals.
    guard signal.sender == owner, !owner.isEmpty else { return }
    switch (signal.interface, signal.member) {
    case (Self.manager, "InterfacesAdded"):
      if let displaced = objects.added(signal) { tell(.changed(displaced)) }
      tell(.changed(signal.values.first?.path ?? ""))
    case (Self.manager, "InterfacesRemoved"):
      objects.removed(signal)
      tell(.changed(signal.values.first?.path ?? ""))
    case (Self.properties, "PropertiesChanged"):
      objects.changed(signal)
      tell(.changed(signal.path))
      if signal.values.first?.text == "org.bluez.GattCharacteristic1", signal.values.count >= 2,
        let value = signal.values[1].properties?["Value"]?.bytes
      {
        tell(.value(signal.path, value))
      }
    default: break
    }
  }

  private func ownerChanged(_ signal: BusMessage) {
    guard signal.values.count == 3, signal.values[0].text == Self.name, let new = signal.values[2].text, new != owner
    else { return }
    let wasThere = !owner.isEmpty
    owner = new
    objects = BluetoothObjects()
    if wasThere { tell(.gone(.bluetoothdEnded)) }
    if !new.isEmpty { Task { await self.reload(of: new) } }
  }

  /// Gets the objects of a bluetoothd that has just started. If it is busy, tries again at growing intervals. Signals
  /// report if it, or the bus, has ended in the meantime.
  private func reload(of new: String) async {
    var pause = Duration.milliseconds(250)
    for _ in 0..<Self.reloads where !hasEnded && bus != nil && owner == new {
      do throws(BusFailure) {
        try await load()
        if owner == new { tell(.returned) }
        return
      } catch {
        await io.sleep(for: pause)
        pause *= 2
      }
    }
  }

  private func end(_ failure: BusFailure) {
    guard !hasEnded else { return }
    owner = ""
    objects = BluetoothObjects()
    bus = nil
    tell(.gone(AccessoryError(.disconnected, "the connection to the system bus has ended: is dbus running?")))
  }

  private func tell(_ event: BlueZEvent) {
    for observer in observers.values { observer(event, objects) }
  }
}
