// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A source that combines several sources.
public struct CombinedSource: DeviceSource {
  private let sources: [any DeviceSource]

  /// A source with the devices and events of these sources.
  public init(_ sources: [any DeviceSource]) { self.sources = sources }

  /// The devices of all sources, in the order of the sources. Of several with one serial number each has its port in its `id`. Throws
  /// when one of the sources can't be queried.
  public func devices() async throws(AccessoryError) -> [Device] {
    var devices: [Device] = []
    for source in sources { devices += try await source.devices() }
    return Twins.marked(devices)
  }

  /// The events of all sources as they come; those of each source are in order. Throws when one of the sources can't be
  /// watched.
  public func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    var streams: [AsyncStream<DeviceEvent>] = []
    for source in sources { streams.append(try await source.events()) }
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    let forwarding = Task { [streams] in
      let twins = SharedTwins()
      await withTaskGroup { group in
        for stream in streams {
          group.addTask {
            for await event in stream { twins.take(event) { continuation.yield($0) } }
          }
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in forwarding.cancel() }
    return stream
  }

  /// Hands the wishes to all sources.
  public func wait(for wishes: [DeviceWish]) async {
    for source in sources { await source.wait(for: wishes) }
  }

  /// Searches with one source after another until one finds a device.
  public func search(for wish: DeviceWish, within limit: Duration) async throws(AccessoryError) -> [Device] {
    for source in sources {
      let found = try await source.search(for: wish, within: limit)
      if !found.isEmpty { return found }
    }
    return []
  }
}

/// The twins among the devices of several streams.
private final class SharedTwins: Sendable {
  private let twins = Locked(Twins())

  /// Hands on the event and the changes that it causes, those of one stream after another.
  func take(_ event: DeviceEvent, _ body: (DeviceEvent) -> Void) {
    twins.withLock { twins in for event in twins.take(event) { body(event) } }
  }
}
