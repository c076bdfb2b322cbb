// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// Receives the advertisements of a Bluetooth Low Energy device. It makes no connection, and nothing can be sent.
///
/// The adapter searches while it is open. `input` gets the bytes that `reading` makes of one company's data. If BlueZ forgets the
/// device, about half a minute after its last advertisement, that counts as an unplug.
public actor AdvertisementTransport: Channel, IOActor {
  /// Makes bytes of one advertisement's data; nil if there is no reading in it. Throws to end the channel. Called on the I/O
  /// thread.
  public typealias Reading =
    @Sendable (_ data: [UInt8], _ time: MonotonicTime) throws(AccessoryError) -> [UInt8]?

  /// The device's name for people.
  public nonisolated let label: String
  /// The bytes that `reading` has made.
  public nonisolated let input = InputQueue()

  package nonisolated let io: IOThread
  private let bluez: BlueZ
  private let address: BluetoothAddress
  private let company: UInt16
  private let adapter: BluetoothAdapter
  private let reading: Reading
  private var observer: Int?
  /// The path of the device's object; nil until the device is received.
  private var device: String?
  private var isFull = false
  private var isOver = false
  /// The outcome of the first reading.
  private let first = OneShot<Result<Void, AccessoryError>>()
  private let closed = OneShot<Void>()

  /// The time limit for receiving the device.
  package static let searchLimit = DeviceName.searchLimit

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Receives a device with the adapter of this name, or with any adapter, and returns after its first reading. `noting` is called on
  /// the I/O thread with events, in words for people.
  ///
  /// Throws `notFound` when there is no adapter or the device isn't received, `misconfigured` when the adapter is off, `unsupported`
  /// when the device advertises no readable data of this company, the errors of `reading`, and `cancelled`.
  public static func open(
    _ address: BluetoothAddress, company: UInt16, by adapter: BluetoothAdapterName? = nil, label: String? = nil,
    io: IOThread = .shared, noting note: (@Sendable (String) -> Void)? = nil, reading: @escaping Reading
  ) async throws(AccessoryError) -> AdvertisementTransport {
    let bluez = try await BlueZ.open(io: io)
    return try await open(
      address, company: company, by: adapter, label: label ?? DeviceAddress.ble(address, adapter: adapter).description,
      over: bluez, within: searchLimit, noting: note, reading: reading)
  }

  /// Like `open` above, over a connection to bluetoothd that the transport takes over.
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
    // If it fails, the bus has ended, which is reported elsewhere.
    if let device { try? await bluez.follow(only: device, and: adapter.path) }
  }

  /// Fails the first reading, because its time is up.
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
    // Data that BlueZ remembers from an earlier search has no signal strength.
    guard known.signalStrength != nil else { return }
    device = known.path
    guard let data = known.manufacturerData[company] else { return }
    do throws(AccessoryError) {
      guard let bytes = try reading(data, io.now) else { return }
      // When the queue is full, drop these bytes, because newer ones follow.
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
      // Closing the connection ends its search.
      await bluez.close()
      closed.finish(())
    }
  }

  /// Ends this program's search, and returns when it has ended.
  public func close() async {
    end(nil)
    await closed.value()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends with `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
