// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Offers a serial port to phones and other devices, over Bluetooth Low Energy.
///
/// The devices that use it at one time share a transport: what it sends reaches all who listen, because BlueZ sends a value to all.
/// It comes with the first device, and ends with the last one that leaves.
public actor GATTUARTServer: IOActor {
  /// How a serial port is offered.
  public struct Settings: Sendable, Hashable {
    /// The name that is advertised, at most 26 bytes.
    public var name: String
    /// Which service it is.
    let port: ServedPort
    /// The service that is advertised, where that isn't the one with the characteristics.
    package var told: BluetoothUUID?
    /// Whether devices must be paired.
    public var isPaired: Bool
    /// The most devices that may write at one time. What others write is refused; they hear everything.
    public var writers: Int
    /// The adapter; nil means any one that is on.
    public var adapter: BluetoothAdapterName?

    /// A serial port with this name.
    public init(
      _ name: String, _ form: GATTUART = .hm10, isPaired: Bool = false, writers: Int = 1,
      adapter: BluetoothAdapterName? = nil
    ) {
      self.init(name, form.port, isPaired, writers, adapter)
    }

    /// A serial port with this name and these characteristics, as a device of some kind has them; nil where `settings` doesn't name
    /// the service and both.
    public init?(
      _ name: String, _ settings: GATTSettings, isPaired: Bool = false, writers: Int = 1,
      adapter: BluetoothAdapterName? = nil
    ) {
      guard let service = settings.service, let write = settings.write, let notify = settings.notify else { return nil }
      self.init(name, ServedPort(service: service, write: write, notify: notify), isPaired, writers, adapter)
    }

    private init(
      _ name: String, _ port: ServedPort, _ isPaired: Bool, _ writers: Int, _ adapter: BluetoothAdapterName?
    ) {
      (self.name, self.port, self.isPaired, self.writers, self.adapter) = (name, port, isPaired, writers, adapter)
    }

    /// Why the name can't be advertised; nil when it can.
    public var refusal: String? {
      if name.isEmpty { return "the name is empty" }
      return name.utf8.count > 26 ? "the name has more than 26 bytes, and wouldn't fit into an advertisement" : nil
    }
  }

  /// What has happened.
  public enum News: Sendable, Equatable {
    /// It is advertised.
    case offered
    /// It isn't advertised, or can't be used, with the reason. It goes on by itself when the reason is gone, unless `isFinal`.
    case trouble(AccessoryError, isFinal: Bool)
    /// A device that isn't among the writers has written, and was refused.
    case unheard(String)
  }

  package nonisolated let io: IOThread
  private let settings: Settings
  private let onConnect: @Sendable (any Transport) -> Void
  private let onNews: @Sendable (News) -> Void
  /// A test's radio; nil for the computer's.
  private let radio = Radios.installed
  private var session: (any ServingSession)?
  private var isWanted = false
  private var transport: GATTUARTTransport?
  /// The devices that are there, and of these who writes and who listens.
  private var centrals: [RadioPeer: ServedCentral] = [:]
  private var writers: Set<RadioPeer> = []
  private var listeners: Set<RadioPeer> = []
  /// Those whose refusal was told.
  private var refused: Set<RadioPeer> = []

  /// A number of the Attribute Protocol for who may not write: one of those that an application chooses.
  private static let mayNotWrite: UInt8 = 0x80

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A serial port that isn't offered yet. `onConnect` is called with each transport, and `onNews` with what happens, on the I/O
  /// thread.
  public init(
    _ settings: Settings, io: IOThread = .shared, onConnect: @escaping @Sendable (any Transport) -> Void,
    onNews: @escaping @Sendable (News) -> Void
  ) {
    (self.settings, self.io, self.onConnect, self.onNews) = (settings, io, onConnect, onNews)
  }

  /// Offers it from now on, until `withdraw`. Where Bluetooth is off or not there, it is offered when that has changed.
  public func offer() {
    isWanted = true
    let session = session ?? begin()
    self.session = session
    session.send(.publish(settings.port.served(isPaired: settings.isPaired)))
    session.send(.offer(ServedOffer(settings.name, [settings.told ?? settings.port.service])))
  }

  private func begin() -> any ServingSession {
    let io = io
    let tell: @Sendable (ServingEvent) -> Void = { [weak self] event in self?.enter(event) { $0.follow($1) } }
    let onThread: @Sendable (ServingEvent) -> Void = { event in
      if io.isCurrent { tell(event) } else { io.post { tell(event) } }
    }
    if let radio { return radio.beginServing(onThread) }
    return BlueZServing(by: settings.adapter, io: io, onThread)
  }

  /// Offers it no longer, and disconnects the devices that use it.
  public func withdraw() {
    isWanted = false
    transport?.finish(nil)
    transport = nil
    disconnect()
    session?.send(.offer(nil))
    session?.send(.withdraw(1))
  }

  /// Ends it.
  public func close() {
    withdraw()
    session?.close()
    session = nil
  }

  private func disconnect() {
    for peer in centrals.keys.sorted() { session?.send(.disconnect(peer)) }
    forget()
  }

  private func forget() { (centrals, writers, listeners, refused) = ([:], [], [], []) }

  // MARK: - Events

  private func follow(_ event: ServingEvent) {
    switch event {
    case .state(.on): break
    case .state(let state):
      end(.disconnected(settings.name))
      guard isWanted else { return }
      if state == .unsupported, radio == nil { return explainAbsence() }
      onNews(.trouble(Self.error(state), isFinal: false))
    case .published(_, let failure?), .offered(let failure?): onNews(.trouble(failure, isFinal: true))
    case .published(_, nil): break
    case .offered(nil): onNews(.offered)
    case .subscribed(let central, let handle):
      guard isWanted, handle == settings.port.notifying else { return }
      arrived(central)
      listeners.insert(central.peer)
      transport?.flush()
    case .unsubscribed(let central, _): listeners.remove(central.peer)
    case .request(let request): asked(request)
    case .left(let peer):
      (centrals[peer], refused) = (nil, refused.subtracting([peer]))
      writers.remove(peer)
      listeners.remove(peer)
      if centrals.isEmpty { end(.disconnected(settings.name)) }
    case .ready: transport?.flush()
    }
  }

  /// Tells what is missing: the system bus, bluetoothd, or an adapter.
  private func explainAbsence() {
    Task {
      do throws(AccessoryError) {
        let bluez = try await BlueZ.open(io: io)
        try await attempt { () async throws(AccessoryError) in
          _ = try await bluez.adapter(settings.adapter)
        } finally: {
          await bluez.close()
        }
      } catch {
        if isWanted { onNews(.trouble(error, isFinal: false)) }
      }
    }
  }

  private static func error(_ state: RadioState) -> AccessoryError {
    switch state {
    case .off: AccessoryError(.misconfigured, "the Bluetooth adapter is off: bluetoothctl power on")
    case .resetting: .bluetoothdEnded
    case .unauthorized:
      AccessoryError(.permissionDenied, "the system bus doesn't let this user talk to bluetoothd")
    case .on, .unsupported:
      AccessoryError(.disconnected, "there is no Bluetooth here: bluetoothd doesn't run, or there is no adapter")
    }
  }

  private func arrived(_ central: ServedCentral) {
    centrals[central.peer] = central
    guard transport == nil else { return }
    let made = GATTUARTTransport(label: "ble:\(settings.name)", io: io, server: self)
    transport = made
    onConnect(made)
  }

  private func asked(_ request: ServingRequest) {
    func answer(_ result: Result<[UInt8], RadioFailure>) {
      if request.needsAnswer { session?.send(.answer(request.id, result)) }
    }
    guard isWanted else { return answer(.failure(.refused(14))) }
    // Apps read FFE1 to see whether it is there; there is no last value in a stream of bytes.
    guard let bytes = request.bytes else { return answer(.success([])) }
    arrived(request.central)
    let peer = request.central.peer
    if !writers.contains(peer) {
      guard writers.count < settings.writers else {
        if refused.insert(peer).inserted { onNews(.unheard(SafeText.escape(request.central.name ?? "a device"))) }
        return answer(.failure(.refused(Self.mayNotWrite)))
      }
      writers.insert(peer)
    }
    guard let transport, transport.take(bytes) else {
      answer(.failure(.refused(Self.mayNotWrite)))
      end(
        AccessoryError(.ioFailure, "\(settings.name) was sent more than its bytes are read, and was disconnected"))
      return disconnect()
    }
    answer(.success([]))
  }

  private func end(_ error: AccessoryError) {
    forgetTransport()?.finish(error)
    if centrals.isEmpty { forget() }
  }

  private func forgetTransport() -> GATTUARTTransport? {
    defer { transport = nil }
    return transport
  }

  // MARK: - The transport

  /// The most bytes of a value: what all listeners take; nil when there are none.
  func chunk() -> Int? { listeners.compactMap { centrals[$0]?.packetSize }.min().map { GATTPacket.room(in: $0) } }

  func send(_ bytes: [UInt8]) -> Bool { session?.notify(settings.port.notifying, bytes) ?? true }

  /// The transport was closed by who uses it: the devices are disconnected.
  func closed(_ closed: GATTUARTTransport) {
    guard transport === closed else { return }
    transport = nil
    disconnect()
  }
}
