// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CFloor
import ExternalAccessory
import Glibc
import Synchronization

/// A session whose streams are scheduled in the main run loop, which runs only within `run` and `TimerJitter`.
@MainActor struct OpenedAccessory {
  private let session: EASession
  private let streams: [Stream]

  /// Runs `body` on the main thread with the terminal at `path` opened.
  static func onMain<Result: Sendable>(
    _ path: String, _ body: @escaping @MainActor @Sendable (OpenedAccessory) throws -> Result
  ) async throws -> Result {
    let result = try await MainActor.run {
      let accessory = try OpenedAccessory(path)
      defer { accessory.streams.forEach { $0.close() } }
      return try body(accessory)
    }
    try await waitUntilFree(path)
    return result
  }

  /// Streams close without waiting.
  private static func waitUntilFree(_ path: String) async throws {
    while true {
      do throws(AccessoryError) {
        return await (try await DescriptorTransport.open(TerminalConfiguration(path: path))).close()
      } catch {
        guard error.kind == .busy else { throw error }
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private init(_ path: String) throws {
    let device = AccessoryDiscovery.Device(.node(path), source: .named, serialNumber: "BENCH")
    let profile = Profile(
      name: "bench", rules: [DeviceRule(serialNumber: "BENCH")], protocolStrings: ["com.example.bench"])
    let manager = EAAccessoryManager(sources: [OneDevice(device: device)], profiles: ProfileStore([profile]))
    guard let accessory = manager.connectedAccessories.first else { throw Failure("no accessory at \(path)") }
    session = try EASession.open(accessory, forProtocol: "com.example.bench")
    streams = [session.inputStream, session.outputStream].compactMap { $0 as Stream? }
  }

  /// Has `client` told of what happens.
  func start(_ client: StreamClient) throws {
    for stream in streams {
      stream.delegate = client
      stream.schedule(in: .main, forMode: .common)
      stream.open()
    }
  }

  /// Runs the main run loop until `client` is done.
  func run(_ client: StreamClient) throws {
    try start(client)
    while !client.isDone { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    if let failure = client.failure { throw failure }
  }
}

/// A device that is there and stays.
private struct OneDevice: DeviceSource {
  let device: AccessoryDiscovery.Device

  func devices() async throws(AccessoryError) -> [AccessoryDiscovery.Device] { [device] }

  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> { AsyncStream { $0.yield(.added(device)) } }
}

/// A 1 kHz timer on the main run loop.
@MainActor enum TimerJitter {
  /// Runs the main run loop for so many ticks; how far each interval was from 1 ms, in nanoseconds.
  static func measure(_ ticks: Int) -> [Int64] {
    let log = Log()
    let timer = Timer(timeInterval: 0.001, repeats: true) { _ in log.times.withLock { $0.append(cfloor_now()) } }
    RunLoop.main.add(timer, forMode: .common)
    // A timer alone doesn't make it return.
    while log.times.withLock({ $0.count }) <= ticks {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
    }
    timer.invalidate()
    let times = log.times.withLock { $0 }
    return zip(times.dropFirst(), times).map { abs($0 - $1 - 1_000_000) }
  }

  private final class Log: Sendable { let times = Mutex<[Int64]>([]) }
}

/// Does something every millisecond, on a thread of its own.
final class Pacer: Sendable {
  private let isStopping = Atomic(false)

  init(_ body: @escaping @Sendable () -> Void) {
    Thread { [self] in
      var next = timespec()
      clock_gettime(CLOCK_MONOTONIC, &next)
      while !isStopping.load(ordering: .acquiring) {
        body()
        next.tv_nsec += 1_000_000
        if next.tv_nsec >= 1_000_000_000 {
          next.tv_nsec -= 1_000_000_000
          next.tv_sec += 1
        }
        clock_nanosleep(CLOCK_MONOTONIC, 1, &next, nil)
      }
    }.start()
  }

  func stop() { isStopping.store(true, ordering: .releasing) }
}
