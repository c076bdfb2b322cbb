// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// The Bluetooth devices of the system, as BlueZ knows them: those that are connected, paired or trusted, and those
/// that are received during a search. It follows the signals of the bus, and never polls.
///
/// It never connects or pairs, and searches only for wishes. It isn't an error if there is no adapter, or if bluetoothd doesn't run
/// or doesn't answer: then there are no devices.
public actor BluetoothSource: DeviceSource, IOActor {
  package nonisolated let io: IOThread
  private nonisolated let place: BluetoothPlace
  private nonisolated let times: BluetoothSearch.Times
  private var bluez: BlueZ?
  /// The result of the running attempt to reach bluetoothd.
  private var opening: OneShot<Void>?
  private var list = BluetoothDeviceList()
  private var subscribers: [Int: BluetoothEventQueue] = [:]
  private var nextSubscriber = 0
  private var search: BluetoothSearch?
  private var searching: Task<Void, Never>?
  /// The end of the current pause between searches.
  private var restEnd: MonotonicTime?
  private var pause: Duration
  private var reopening: TimerToken?
  private var failures = 0

  /// How long a list, or a follower, waits for a bluetoothd that doesn't answer.
  private static let limits = (list: Duration.seconds(2), follow: Duration.seconds(5))
  /// The number of attempts to reconnect to a bus that has ended, and the first pause. Each pause is twice as long as
  /// the one before.
  private static let reopening = (tries: 6, pause: Duration.seconds(10))

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A source whose messages are received on `io`.
  public init(io: IOThread = .shared) { self.init(.usual, io: io) }

  init(_ place: BluetoothPlace, _ times: BluetoothSearch.Times = BluetoothSearch.Times(), io: IOThread = .shared) {
    (self.place, self.times, self.io) = (place, times, io)
    pause = times.pause
  }

  /// Whether an adapter is on, as far as is known.
  var hasAdapter: Bool { list.hasAdapter }

  // MARK: - Looking once

  /// The devices that are present now, sorted by address; empty without a bus or an adapter. Doesn't throw.
  public func devices() async throws(AccessoryError) -> [Device] {
    if bluez != nil { return list.devices }
    guard place.hasAdapter,
      let bluez = try? await BlueZ.open(place.bus, within: Self.limits.list, io: io)
    else { return [] }
    var list = BluetoothDeviceList()
    _ = list.replace(await bluez.objects)
    await bluez.close()
    return list.devices
  }

  /// Searches for the devices that match the wish. Received devices precede those that BlueZ only remembers. If the wish names an
  /// address, a remembered device is returned at once, if any of its advertised data is known. If bluetoothd can't be used or the
  /// adapter is off, throws the same errors as opening a Bluetooth device.
  public func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device] {
    guard place.hasAdapter, let search = BluetoothSearch([wish]) else { return [] }
    // With no time to search, return what is known, without errors.
    guard limit > .zero else { return await remembered(wish) }
    let bluez = try await BlueZ.open(place.bus, io: io)
    return try await attempt { () throws(AccessoryError) in
      let adapter = try await bluez.adapter(wish.adapter)
      let known = await Self.fitting(wish, bluez.objects)
      if wish.address != nil, known.contains(where: \.tellsSomething) { return known }
      let hearing = BluetoothHearing(wish)
      for device in known { hearing.take(device, on: io) }
      let key = await bluez.observe { [io] event, objects in
        switch event {
        case .gone: hearing.end()
        case .changed(let path):
          guard let known = objects.devices[path], wish.adapter == nil || known.adapter == adapter.path,
            let device = Device(known, in: objects)
          else { return }
          hearing.take(device, on: io)
        case .value, .returned: break
        }
      }
      try await bluez.startSearching(search.kind, for: search.services, on: adapter)
      let heard = await hearing.devices(within: limit, on: io)
      await bluez.stopObserving(key)
      if !heard.isEmpty { return heard }
      let remembered = await Self.fitting(wish, bluez.objects)
      if remembered.isEmpty, let address = wish.address, !Task.isCancelled {
        throw .notOnTheAir(address, wish.adapter.map { " for the adapter \($0)" } ?? "")
      }
      return remembered
    } finally: {
      // Closing the connection also ends the search.
      await bluez.close()
    }
  }

  private func remembered(_ wish: DeviceWish) async -> [Device] {
    guard let bluez = try? await BlueZ.open(place.bus, within: Self.limits.list, io: io) else { return [] }
    let devices = Self.fitting(wish, await bluez.objects)
    await bluez.close()
    return devices
  }

  /// The known devices that match. A device that several adapters know is listed once.
  private static func fitting(_ wish: DeviceWish, _ objects: BluetoothObjects) -> [Device] {
    var seen: Set<DeviceAddress> = []
    return objects.devices.values.sorted { $0.path < $1.path }.compactMap { Device($0, in: objects) }
      .filter { wish.fits($0) && seen.insert($0.address).inserted }
  }

  // MARK: - Following

  /// The devices that are present now, and then the changes. Without Bluetooth there are no events. A slow reader gets
  /// the newest state of each device, without the states in between. Doesn't throw.
  public func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    let key = nextSubscriber
    nextSubscriber += 1
    let queue = BluetoothEventQueue()
    if place.mayHaveAdapter { await follow() }
    for device in list.devices { queue.add(.added(device)) }
    subscribers[key] = queue
    arrange()
    // The closure retains the source for as long as the stream is read.
    return queue.stream { self.io.post { self.enter { $0.unsubscribe(key) } } }
  }

  private func unsubscribe(_ key: Int) {
    guard subscribers.removeValue(forKey: key) != nil, subscribers.isEmpty else { return }
    arrange()
    if let reopening { io.cancel(reopening) }
    reopening = nil
    guard let bluez else { return }
    self.bluez = nil
    _ = list.replace(BluetoothObjects())
    let searching = searching
    Task {
      // The connection that has begun the search must end it.
      await searching?.value
      await bluez.close()
    }
  }

  /// Connects to bluetoothd if there is no connection.
  private func follow() async {
    if let opening { return await opening.value() }
    guard bluez == nil else { return }
    let opening = OneShot<Void>()
    self.opening = opening
    do throws(AccessoryError) {
      let bluez = try await BlueZ.open(place.bus, awaitsDaemon: true, within: Self.limits.follow, io: io)
      _ = await bluez.observe { [weak self] event, objects in self?.enter { $0.take(event, objects) } }
      self.bluez = bluez
      failures = 0
      tell(list.replace(await bluez.objects))
    } catch {
      // Waiting doesn't change whether this user may access bluetoothd.
      if error.kind != .permissionDenied { followLater() }
    }
    self.opening = nil
    opening.finish(())
    arrange()
  }

  private func followLater() {
    guard reopening == nil, failures < Self.reopening.tries else { return }
    reopening = io.schedule(at: io.now + Self.reopening.pause * (1 << failures)) { [weak self] in
      self?.enter { source in
        source.reopening = nil
        if !source.subscribers.isEmpty { Task { await source.follow() } }
      }
    }
    failures += 1
  }

  private func take(_ event: BlueZEvent, _ objects: BluetoothObjects) {
    let hadAdapter = list.hasAdapter
    defer { if list.hasAdapter != hadAdapter { arrange() } }
    switch event {
    case .changed(let path): tell(list.change(path, objects))
    case .returned: tell(list.replace(objects))
    case .gone:
      tell(list.replace(objects))
      guard let bluez, !bluez.enter({ $0.hasBus }) else { return }
      self.bluez = nil
      followLater()
    case .value: break
    }
  }

  private func tell(_ events: [DeviceEvent]) {
    for event in events {
      for subscriber in subscribers.values { subscriber.add(event) }
    }
    if !events.isEmpty { arrange() }
  }

  // MARK: - Searching for wishes

  /// Searches while one of these wishes has no matching device that is connected, paired or trusted, or can be
  /// received: ten seconds at a time, with pauses that grow from five seconds to a minute.
  public func wait(for wishes: [DeviceWish]) async {
    pause = times.pause
    if let restEnd, restEnd > io.now + pause {
      // New wishes begin with the shortest pause.
      self.restEnd = io.now + pause
      searching?.cancel()
      search = nil
    }
    tell(list.use(wishes))
    arrange()
  }

  /// Starts, ends or changes the search to match the wishes.
  private func arrange() {
    let unmet = bluez == nil || subscribers.isEmpty || !list.hasAdapter ? [] : list.unmet
    let wanted = BluetoothSearch(unmet)
    guard wanted != search else { return }
    search = wanted
    let before = searching
    before?.cancel()
    guard let wanted else { return }
    searching = Task {
      // Wait until the search before has ended, so that its end doesn't end the next one.
      await before?.value
      await self.searchAgainAndAgain(wanted)
    }
  }

  private func searchAgainAndAgain(_ search: BluetoothSearch) async {
    // After a long time without a search the pauses begin anew. A device that is found and lost again and again doesn't shorten them.
    if let restEnd, io.now - restEnd > times.longestPause { pause = times.pause }
    while let bluez {
      if let restEnd, restEnd > io.now { await io.sleep(for: restEnd - io.now) }
      if Task.isCancelled { return }
      var searching: [BluetoothAdapter] = []
      var hasBegun = false
      for name in search.adapters {
        // Wait for an adapter that is missing or off.
        guard let adapter = try? await bluez.adapter(name), !searching.contains(where: { $0.path == adapter.path })
        else { continue }
        searching.append(adapter)
        let begun: Void? = try? await bluez.startSearching(
          search.kind, for: search.services, allSignals: false, on: adapter)
        if begun != nil { hasBegun = true }
      }
      if hasBegun, !Task.isCancelled { await io.sleep(for: times.search) }
      for adapter in searching { await bluez.stopSearching(on: adapter) }
      restEnd = io.now + pause
      pause = min(pause * 2, times.longestPause)
    }
  }
}
