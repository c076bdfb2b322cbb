// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A channel that carries no bytes, for tests: texts at any terminal or node of hidraw. The file there isn't opened.
public final class TestChannel: DeviceChannel {
  /// Attributes.
  public static let kind = ChannelKind.attributes
  /// What it is, for errors.
  public static let device = "shelf"
  /// How it is used, for errors.
  public static let manner = "is looked at"

  /// The channels that were opened last, by the texts of their addresses.
  private static let latest = Locked<[String: TestChannel]>([:])

  /// The label that was asked for.
  public let label: String
  private let end = EventHub<Void>(limit: 1)
  private let state = Locked((closings: 0, text: "full"))

  private init(label: String) { self.label = label }

  /// At a terminal or a node of hidraw; there is nothing at `/nowhere`.
  public static func source(of address: DeviceAddress) -> ChannelSource<TestChannel>? {
    switch address {
    case .terminal(let path), .hidraw(let path):
      { request throws(AccessoryError) in
        if path == "/nowhere" { throw AccessoryError(.notFound, "\(request.label): there is no shelf") }
        let channel = TestChannel(label: request.label)
        latest.withLock { $0[path] = channel }
        return channel
      }
    default: nil
    }
  }

  /// The channel that was opened last at this path; nil if none was.
  public static func opened(_ path: String) -> TestChannel? { latest.withLock { $0[path] } }

  /// How often it was closed.
  public var closings: Int { state.withLock { $0.closings } }

  /// What is there. Throws `disconnected` when it is lost, and `cancelled` when it is closed.
  public func read() throws(AccessoryError) -> String {
    switch end.end {
    case nil: state.withLock { $0.text }
    case .success?: throw .closed(label)
    case .failure(let error)?: throw error
    }
  }

  /// The channel's end, as events without an event.
  public func events() -> EventStream<Void> { end.stream() }

  /// Waits for the end.
  public func ended() async throws(AccessoryError) { for try await _ in events() {} }

  /// Counts it, and ends.
  public func close() async { beginClose() }

  /// Counts it, and ends.
  public func beginClose() {
    state.withLock { $0.closings += 1 }
    end.finish(nil)
  }

  /// Ends with `disconnected`.
  public func deviceWasRemoved() { end.finish(.disconnected(label)) }
}
