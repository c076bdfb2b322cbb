// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Offers a serial port to phones and other devices, over Bluetooth Low Energy.
///
/// All connected devices share one transport. Its output reaches every listener, because BlueZ sends a value to all. It opens with
/// the first device, and ends when the last one leaves.
public actor GATTUARTServer: IOActor {
  /// How a serial port is offered.
  public struct Settings: Sendable, Hashable {
    /// The advertised name, at most 26 bytes.
    public var name: String
    /// The service and its characteristics.
    let port: ServedPort
    /// The advertised service, if it isn't the one with the characteristics.
    package var told: BluetoothUUID?
    /// Whether devices must be paired.
    public var isPaired: Bool
    /// The most devices that may write at one time. Writes of others are refused; they still receive everything.
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

    /// A serial port with this name and the characteristics of `settings`; nil if `settings` doesn't name the service and both
    /// characteristics.
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

  /// An event of the server.
  public enum News: Sendable, Equatable {
    /// It is advertised.
    case offered
    /// It can't be advertised or used, for this reason. Unless `isFinal`, it continues by itself when the reason is gone.
    case trouble(AccessoryError, isFinal: Bool)
    /// A write was refused, because the device isn't among the writers.
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
  /// The connected devices, and which of them write and listen.
  private var centrals: [RadioPeer: ServedCentral] = [:]
  private var writers: Set<RadioPeer> = []
  private var listeners: Set<RadioPeer> = []
  /// The devices whose refusal was reported.
  private var refused: Set<RadioPeer> = []

  /// The error code of the Attribute Protocol for devices that may not write, from the range for applications.
  private static let mayNotWrite: UInt8 = 0x80

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A serial port that isn't offered yet. `onConnect` is called with each transport, and `onNews` with each event, on the I/O
  /// thread.
  public init(
    _ settings: Settings, io: IOThread = .shared, onConnect: @escaping @Sendable (any Transport) -> Void,
    onNews: @escaping @Sendable (News) -> Void
  ) {
    (self.settings, self.io, self.onConnect, self.onNews) = (settings, io, onConnect, onNews)
  }

  /// Offers the serial port until `withdraw`. If Bluetooth is off or missing, offers it when that has changed.
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

  /// Stops offering the serial port, and disconnects its devices.
  public func withdraw() {
    isWanted = false
    transport?.finish(nil)
    transport = nil
    disconnect()
    session?.send(.offer(nil))
    session?.send(.withdraw(1))
  }

  /// Ends the server.
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

  /// Reports what is missing: the system bus, bluetoothd, or an adapter.
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
    // Apps read FFE1 to check that it exists. The answer is empty, because a stream of bytes has no last value.
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

  /// The most bytes of a value that all listeners accept; nil if there are none.
  func chunk() -> Int? { listeners.compactMap { centrals[$0]?.packetSize }.min().map { GATTPacket.room(in: $0) } }

  func send(_ bytes: [UInt8]) -> Bool { session?.notify(settings.port.notifying, bytes) ?? true }

  /// Disconnects the devices, because the owner of the transport has closed it.
  func closed(_ closed: GATTUARTTransport) {
    guard transport === closed else { return }
    transport = nil
    disconnect()
  }
}
