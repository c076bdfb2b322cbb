// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryExport
import AccessoryIO
import CommandOutput

/// A serial port that others may use: "zigbee=A10K01WZ", or a device alone, which is its name then.
struct OfferedPort: FormArgument, Hashable {
  static let form = "a device, or a name and a device, like zigbee=A10K01WZ,"
  let name, device: String

  /// The most ports of one server: clients list all of them in one message.
  static let limit = 64

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isNamed = parts.count == 2 && ExportName.isName(parts[0])
    (name, device) = isNamed ? (parts[0], parts[1]) : (argument, argument)
    guard !device.isEmpty, device.utf8.count <= 255 else { return nil }
  }

  /// What is wrong with these ports together, for people; nil for nothing.
  static func problem(_ ports: [OfferedPort]) -> String? {
    if ports.count > limit { return "there are \(ports.count) ports, and at most \(limit) are possible" }
    for (index, port) in ports.enumerated() where ports[..<index].contains(where: { $0.name == port.name }) {
      return "two ports have the name \(SafeText.escape(port.name))"
    }
    return nil
  }
}

/// The serial ports that `export home-assistant` offers. A line that a service has open is shared by the service, which asks nothing
/// meanwhile; another one is opened by this program. Nothing is open while no client has the port.
actor OfferedPorts: NativePorts {
  private let ports: [OfferedPort]
  /// Whether clients' bytes may change something in an accessory, if its profile allows that, too.
  private let write: Bool
  /// Called with what is wrong with a port, once for each reason.
  private let trouble: @Sendable (AccessoryError) -> Void
  private var noted: Set<String> = []

  /// The time in which changes are gathered: what is plugged in comes in pieces.
  private static let pause = Duration.milliseconds(200)

  init(_ ports: [OfferedPort], write: Bool, trouble: @escaping @Sendable (AccessoryError) -> Void) {
    (self.ports, self.write, self.trouble) = (ports, write, trouble)
  }

  // MARK: - What is there

  func changes() -> AsyncStream<[NativePort]> {
    let (stream, continuation) = AsyncStream<[NativePort]>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let task = Task {
      var last = await self.look(after: [])
      continuation.yield(last)
      let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
      await withTaskGroup { group in
        group.addTask { await self.followDevices(signal) }
        for path in Set(self.ports.flatMap { Self.paths($0.device) }) {
          group.addTask { await Self.follow(path, signal) }
        }
        for await _ in signals {
          await IOThread.shared.sleep(for: Self.pause)
          let now = await self.look(after: last)
          if now != last { continuation.yield(now) }
          last = now
        }
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// Signals when something has come, gone or changed, of this machine's devices and of services.
  private func followDevices(_ signal: AsyncStream<Void>.Continuation) async {
    let library = KnownDrivers.library
    let accessories = Accessories(
      sources: (try? KnownDevices.sources()) ?? [], profiles: await KnownProfiles.store, drivers: library,
      services: ServicePlace.all())
    guard let changes = try? await accessories.changes() else { return }
    do { for try await _ in changes { signal.yield() } } catch {}
  }

  private static func follow(_ path: String, _ signal: AsyncStream<Void>.Continuation) async {
    let file = FileArrivals(at: path)
    for await _ in file.signals.dropFirst() { signal.yield() }
    file.stop()
  }

  /// The files that a name may mean: links come without a device.
  private static func paths(_ name: String) -> [String] {
    name.contains("/") && DeviceAddress(name)?.node != nil ? [WorkingFolder.absolute(name)] : []
  }

  private func look(after last: [NativePort]) async -> [NativePort] {
    var found: [NativePort] = []
    for (index, port) in ports.enumerated() {
      var known = last.isEmpty ? NativePort(name: port.name) : last[index]
      do {
        let there = try await find(port)
        known = NativePort(port.name, there.device)
      } catch {
        known.absence = Self.reason(error)
        if !AccessoryWait.isAbsence(error), let error = error as? AccessoryError, noted.insert(error.message).inserted {
          trouble(error)
        }
      }
      found.append(known)
    }
    return found
  }

  /// Finds a port's line. Throws what refuses its clients' bytes, too: a port that only reads would be a trap.
  private func find(_ port: OfferedPort) async throws -> any FoundAccessory {
    let found = try await Door.finder(asLine: true).find(DeviceName(port.device))
    guard found.isThere(isNamed: true) else {
      throw AccessoryError(.disconnected, "\(SafeText.escape(port.device)) isn't connected")
    }
    try await found.writeRules().checkBytes(isAsked: write)
    return found
  }

  private static func reason(_ error: any Error) -> String { (error as? AccessoryError)?.message ?? "\(error)" }

  // MARK: - Opening

  func open(_ port: Int) async throws(AccessoryError) -> NativeOpenPort {
    do {
      let found = try await find(ports[port])
      do throws(AccessoryError) {
        return try await open(found)
      } catch {
        // A service that looks for new accessories may have opened it meanwhile.
        let isSoonHeld = error.kind == .busy && found.service == nil
        let name = DeviceName(ports[port].device)
        guard isSoonHeld, let held = try await Door.finder(asLine: true).held(name) else { throw error }
        return try await open(held)
      }
    } catch {
      throw error as? AccessoryError ?? AccessoryError(.notFound, Self.reason(error))
    }
  }

  private func open(_ found: any FoundAccessory) async throws(AccessoryError) -> NativeOpenPort {
    let shared = try await found.share(SharePlan(frames: nil, onlyReads: false, write: write, tap: nil) { _ in })
    return NativeOpenPort(shared.transport, keepsModemLines: found.service != nil)
  }
}
