// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The devices of the system: USB devices, and the terminals of USB and Bluetooth accessories. Follows the messages of
/// udev, or of the kernel if udev doesn't run; never polls.
///
/// All USB devices except hubs are reported; `Device.mayBeAccessory` says which may be accessories. On a system without
/// USB there are none, which isn't an error.
public actor UdevSource: DeviceSource {
  private nonisolated let executor = DispatchExecutor(label: "accessory.discovery.udev")
  private nonisolated let io: IOThread
  /// The queue on which sysfs is read, which may block.
  private nonisolated let reader = SetupQueue(label: "udev")
  private var model = UdevModel(onlyInitialized: false)
  private var monitor: UdevMonitor?
  private var subscribers: [Int: AsyncStream<DeviceEvent>.Continuation] = [:]
  private var nextSubscriber = 0
  /// The number of subscribers, including those whose `events()` call is still waiting.
  private var users = 0
  private var isLooking = false
  private var mustLookAgain = false
  /// A new number for each monitor, so that late messages of an earlier one are ignored.
  private var generation = 0
  /// The end of the first scan, for which calls of `events()` wait.
  private var firstLook = OneShot<Void>()

  /// How long the remaining parts of an accessory that lost its terminal may take to be removed as well. The kernel
  /// usually removes all parts within about ten milliseconds.
  private static let partingTime = Duration.milliseconds(500)

  /// The source's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A source whose messages are received on `io`.
  public init(io: IOThread = .shared) { self.io = io }

  deinit { monitor?.stop() }

  /// The devices that are present now, sorted by path, including those to which udev's rules haven't been applied yet.
  /// Doesn't throw.
  public func devices() async throws(AccessoryError) -> [Device] {
    await reader.run {
      UdevAssembly.entries(UdevLibrary.records(), onlyInitialized: false).values.map(\.device)
        .sorted { ($0.address, $0.id) < ($1.address, $1.id) }
    }
  }

  /// The devices that are present now, and then the changes. If udev runs, a device is reported when its rules have
  /// been applied. Throws `ioFailure` or another error of listening to udev.
  public func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    if monitor == nil { try listen() }
    let key = nextSubscriber
    nextSubscriber += 1
    users += 1
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    await firstLook.value()
    for device in model.devices { continuation.yield(.added(device)) }
    subscribers[key] = continuation
    // The handler retains the source for as long as the stream is read.
    continuation.onTermination = { _ in self.post { $0.unsubscribe(key) } }
    return stream
  }

  private nonisolated func post(_ body: @escaping @Sendable (isolated UdevSource) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func listen() throws(AccessoryError) {
    generation += 1
    let generation = generation
    model = UdevModel(onlyInitialized: UdevLibrary.isRunning)
    monitor = try UdevMonitor.starting(io: io, subsystems: UdevMonitor.ports) { [weak self] messages in
      self?.post { $0.take(messages, generation) }
    }
    // Scans after it has started to listen, so that no change is missed.
    look()
  }

  private func unsubscribe(_ key: Int) {
    subscribers[key] = nil
    users -= 1
    guard users == 0 else { return }
    monitor?.stop()
    monitor = nil
    firstLook = OneShot()
    generation += 1
  }

  /// Handles the messages of the monitor of this generation; the first generation is 1.
  func take(_ messages: [UdevMessage], _ generation: Int) {
    guard generation == self.generation else { return }
    for message in messages {
      switch message {
      case .hint(let hint): report(model.apply(hint))
      case .overflow: model.overflow()
      }
    }
    for devpath in model.takeNewlyUnreported() {
      _ = io.schedule(at: io.now + Self.partingTime) { [weak self] in
        self?.post { $0.release(devpath, generation) }
      }
    }
    look()
  }

  private func release(_ devpath: String, _ generation: Int) {
    guard generation == self.generation else { return }
    model.release(devpath)
    look()
  }

  /// Scans the devices. While a scan is running, schedules another one after it.
  private func look() {
    guard !isLooking else {
      mustLookAgain = true
      return
    }
    isLooking = true
    mustLookAgain = false
    model.beginScan()
    let generation = generation
    reader.post { [weak self] in
      let records = UdevLibrary.records()
      self?.post { $0.looked(records, generation) }
    }
  }

  private func looked(_ records: [UdevRecord], _ generation: Int) {
    isLooking = false
    guard generation == self.generation else {
      if monitor != nil { look() }
      return
    }
    report(model.endScan(records))
    firstLook.finish()
    if mustLookAgain { look() }
  }

  private func report(_ events: [DeviceEvent]) {
    for event in events {
      for subscriber in subscribers.values { subscriber.yield(event) }
    }
  }
}
