// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Listens to what a Bluetooth Low Energy device advertises. Nothing is connected, and nothing can be written: `output` accepts
/// nothing.
///
/// It has the adapter search for as long as it is open. `input` gets what `reading` makes of the data of one company. When the device
/// wasn't heard for so long that BlueZ forgets it, after about half a minute, that is an unplug.
public actor AdvertisementTransport: Transport, IOActor {
  /// Makes bytes of the data that a company's device has advertised at a time; nil where nothing is to be read. Throws to end the
  /// transport. Called on the I/O thread.
  public typealias Reading =
    @Sendable (_ data: [UInt8], _ time: MonotonicTime) throws(AccessoryError) -> [UInt8]?

  /// The device's name for people.
  public nonisolated let label: String
  /// There is no line with a transmission time.
  public nonisolated var timing: LineTiming { .instant }
  /// What was heard.
  public nonisolated let input = InputQueue()
  /// Accepts nothing.
  public nonisolated let output = OutputQueue()

  package nonisolated let io: IOThread
  private let bluez: BlueZ
  private let address: BluetoothAddress
  private let company: UInt16
  private let adapter: BluetoothAdapter
  private let reading: Reading
  private var observer: Int?
  /// Whether the device was heard, and its object's path.
  private var device: String?
  private var isFull = false
  private var isOver = false
  /// The outcome of the first reading.
  private let first = OneShot<Result<Void, AccessoryError>>()
  private let closed = OneShot<Void>()

  /// How long it may take until the device was heard.
  package static let searchLimit = DeviceName.searchLimit

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Listens to a device with the adapter of this name, or with any one, and returns when something of it was read. `noting` is called
  /// on the I/O thread with events, in words for people.
  ///
  /// Throws `notFound` when Bluetooth isn't there or the device isn't heard, `misconfigured` when the adapter is off, `unsupported` when
  /// the device is heard, but not with data of this company that can be read, what `reading` throws, and `cancelled`.
  public static func open(
    _ address: BluetoothAddress, company: UInt16, by adapter: BluetoothAdapterName? = nil, label: String? = nil,
    io: IOThread = .shared, noting note: (@Sendable (String) -> Void)? = nil, reading: @escaping Reading
  ) async throws(AccessoryError) -> AdvertisementTransport {
    let bluez = try await BlueZ.open(io: io)
    return try await open(
      address, company: company, by: adapter, label: label ?? DeviceAddress.ble(address, adapter: adapter).description,
      over: bluez, within: searchLimit, noting: note, reading: reading)
  }

  /// The same over a conversation with bluetoothd, which the transport owns from now on.
  static func open(
    _ address: BluetoothAddress, company: UInt16, by name: BluetoothAdapterName? = nil, label: String,
    over bluez: BlueZ, within limit: Duration, noting note: (@Sendable (String) -> Void)? = nil,
    reading: @escaping Reading
  ) async throws(AccessoryError) -> AdvertisementTransport {
    let adapter: BluetoothAdapter
    do throws(AccessoryError) {
      adapter = try await bluez.adapter(name)
    } catch {
      await bluez.close()
      throw error
    }
    let transport = AdvertisementTransport(bluez, address, company, adapter, label: label, reading)
    return try await attempt { () throws(AccessoryError) in
      try await transport.start(within: limit)
      note?(
        "listening to \(address) by \(SafeText.escape(adapter.name)): data of the company \(Self.name(company)); "
          + "nothing is connected")
      return transport
    } onFailure: { _ in
      await transport.close()
    }
  }

  private init(
    _ bluez: BlueZ, _ address: BluetoothAddress, _ company: UInt16, _ adapter: BluetoothAdapter, label: String,
    _ reading: @escaping Reading
  ) {
    (self.io, self.bluez, self.address, self.company, self.adapter) = (bluez.io, bluez, address, company, adapter)
    (self.label, self.reading) = (label, reading)
  }

  private func start(within limit: Duration) async throws(AccessoryError) {
    output.close(AccessoryError(.unsupported, "\(label) is only heard: no bytes are written to it"))
    input.onResume { [weak self] in
      guard let self else { return }
      io.post { self.enter { $0.isFull = false } }
    }
    observer = await bluez.observe { [weak self] event, objects in self?.enter { $0.follow(event, objects) } }
    try await bluez.startSearching(.lowEnergy, on: adapter)
    let timer = io.schedule(at: io.now + limit) { [weak self] in self?.enter { $0.wasNotRead() } }
    let cancelled = AccessoryError(.cancelled, "listening to \(label) was cancelled")
    let outcome = await first.value(whenCancelled: .failure(cancelled))
    io.cancel(timer)
    try outcome.get()
    // If it fails, the bus has ended, which is told in another way.
    if let device { try? await bluez.follow(only: device, and: adapter.path) }
  }

  /// The time is up.
  private func wasNotRead() {
    first.finish(
      .failure(
        device == nil
          ? AccessoryError(
            .notFound, "the Bluetooth device \(address) isn't heard: is it on, near enough, and does it advertise?")
          : AccessoryError(
            .unsupported,
            "\(label) is heard, but advertises no data of the company \(Self.name(company)) that can be read here")))
  }

  private static func name(_ company: UInt16) -> String { "0x" + Hexadecimal.string(company) }

  // MARK: - Events

  private func follow(_ event: BlueZEvent, _ objects: BluetoothObjects) {
    guard !isOver else { return }
    switch event {
    case .gone(let error): end(AccessoryError(.disconnected, "\(label) isn't heard any more: \(error.message)"))
    case .changed(let path):
      guard objects.adapters[adapter.path]?.isPowered == true else {
        return end(
          AccessoryError(
            .disconnected, "\(label) isn't heard any more: the adapter \(SafeText.escape(adapter.name)) is off or gone")
        )
      }
      if let known = objects.devices[path], known.address == address, known.adapter == adapter.path {
        hear(known)
      } else if path == device, objects.devices[path] == nil {
        end(AccessoryError(.disconnected, "\(label) wasn't heard for so long that BlueZ has forgotten it"))
      }
    case .value, .returned: break
    }
  }

  private func hear(_ known: BluetoothDevice) {
    // What BlueZ remembers of an earlier search has no signal.
    guard known.signalStrength != nil else { return }
    device = known.path
    guard let data = known.manufacturerData[company] else { return }
    do throws(AccessoryError) {
      guard let bytes = try reading(data, io.now) else { return }
      // Nobody takes them: what comes later is newer.
      if !isFull { isFull = !input.append(bytes.span.bytes) }
      first.finish(.success(()))
    } catch {
      first.finish(.failure(error))
      end(error)
    }
  }

  // MARK: - Ending

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    first.finish(.failure(error ?? AccessoryError(.cancelled, "\(label) is closed")))
    input.finish(error)
    Task {
      if let observer { await bluez.stopObserving(observer) }
      // The end of the conversation ends its search.
      await bluez.close()
      closed.finish(())
    }
  }

  /// Ends the search of this program, and returns when it has ended.
  public func close() async {
    end(nil)
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends with `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
