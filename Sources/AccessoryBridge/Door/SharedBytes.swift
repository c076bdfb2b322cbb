// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// How an accessory is opened for the clients of a bridge.
package struct SharePlan: Sendable {
  /// The driver whose frames are shared; nil to share bytes.
  package var frames: Driver?
  /// Whether clients may only read: nothing that they send reaches the accessory.
  package var onlyReads: Bool
  /// Whether the user asks for permission to change something in the accessory.
  package var write: Bool
  /// A tap that gets a copy of every byte.
  package var tap: (any TransportTap)?
  /// Called when the accessory is open, before any byte passes, with the pause after which an unfinished frame is dropped.
  package var opened: @Sendable (Duration) async -> Void

  package init(
    frames: Driver?, onlyReads: Bool, write: Bool, tap: (any TransportTap)?,
    opened: @escaping @Sendable (Duration) async -> Void
  ) {
    (self.frames, self.onlyReads, self.write, self.tap, self.opened) = (frames, onlyReads, write, tap, opened)
  }
}

/// An open accessory to be shared by several programs: the parts of a `SharedDevice` of the library `AccessorySharing`.
public struct SharedBytes: Sendable {
  /// Its bytes.
  public let transport: any Transport
  /// How its frames are separated; nil if it is shared by bytes.
  public internal(set) var routing: FrameRouting?
  /// Whether nothing that the programs send reaches it.
  public internal(set) var isReadOnly = false
  /// The session that has sent the greeting; nil if none was needed. It closes the transport when it is released.
  public internal(set) var session: AccessorySession?
}

extension FoundAccessory {
  /// The driver whose frames are shared by default; nil to share bytes. Frames of another protocol than the device's own count as
  /// bytes, which may be writes.
  package func usualFramesDriver(_ rules: WriteRules, write: Bool) -> Driver? {
    guard let driver = framesDriver, driver.routing != nil else { return nil }
    return !write && rules.hasWrites && !rules.names(driver.name) ? nil : driver
  }
}

extension Accessories {
  /// Opens the accessory that `name` names, to share it with other programs through a `SharingHub`; see `open` for names and errors.
  /// If its protocol is known and its requests can be separated, it is shared by frames: then the programs may send requests that
  /// only read. Otherwise it is shared by bytes; if these may change something, the programs may only read. With `writes` the
  /// programs may also change something, if the profile allows that.
  ///
  /// If a service has the accessory open, the service shares it, and sends nothing of its own until the transport is closed.
  public func openShared(_ name: String? = nil, writes: Bool = false) async throws(AccessoryError) -> SharedBytes {
    try await opening(name, asLine: true) { found throws(AccessoryError) in
      let rules = await found.writeRules()
      let driver = found.usualFramesDriver(rules, write: writes)
      let onlyReads = driver == nil && !writes && rules.hasWrites
      var shared = try await found.share(
        SharePlan(frames: driver, onlyReads: onlyReads, write: writes, tap: nil) { _ in })
      shared.isReadOnly = onlyReads
      return shared
    }
  }
}

extension HeldAccessory {
  /// If the service reaches a Modbus accessory over a network, this program doesn't know the encoding of its frames there.
  var framesDriver: Driver? {
    let driver = driverName.flatMap { kinds.library().driver(named: $0) }
    return driver?.units == nil || !entry.accessory.device.place.hasPrefix("tcp:") ? driver : nil
  }

  /// The service shares the accessory with its other clients, if it is new enough for the call `Share` with frames. Otherwise this
  /// program borrows the accessory, which the service lends only to a client that may send every frame.
  func share(_ plan: SharePlan) async throws(AccessoryError) -> SharedBytes {
    let write = entry.asks(toWrite: plan.write)
    var allowsWrites = entry.accessory.writes == nil || write
    var transport: any Transport
    if let shared = try await calls.share(
      plan.onlyReads ? .read : .write, by: plan.frames == nil ? .bytes : .frames, write: write)
    {
      transport = shared.transport
    } else {
      transport = try await calls.open(write: write).transport
      allowsWrites = true
    }
    if let tap = plan.tap { transport = TappedTransport(transport, tap: tap) }
    // The service doesn't report the line's speed here, so this is the value for a transport without a baud rate. It is
    // right for all but the slowest lines.
    await plan.opened(LineTiming.instant.silence)
    do throws(AccessoryError) {
      return SharedBytes(transport: transport, routing: try plan.frames?.routing?(transport, nil, allowsWrites))
    } catch {
      transport.beginClose()
      throw error
    }
  }
}

extension OwnAccessory {
  var framesDriver: Driver? { opener.driver }

  func share(_ plan: SharePlan) async throws(AccessoryError) -> SharedBytes {
    var opener = opener
    (opener.asksToWrite, opener.tap) = (plan.write, plan.tap)
    guard let driver = plan.frames, let routing = driver.routing else {
      let transport = plan.onlyReads ? try await opener.unguardedTransport() : try await opener.transport()
      await plan.opened(transport.timing.silence)
      return SharedBytes(transport: transport)
    }
    let allowsWrites = try allowsWrites(plan, driver)
    let transport = try await opener.unguardedTransport()
    await plan.opened(transport.timing.silence)
    return try await attempt { () async throws(AccessoryError) in
      var shared = SharedBytes(
        transport: transport, routing: try routing(transport, opener.profile, allowsWrites))
      if transport.peer != nil {
        // An EV3 on the network expects a greeting at the start of each connection.
        let session = AccessorySession(transport)
        shared.session = session
        try await driver.greet(over: session)
      }
      return shared
    } onFailure: { _ in
      transport.beginClose()
    }
  }

  /// Whether clients' frames may be writes. Throws `permissionDenied` if the user asks for writes that the profile doesn't
  /// allow, or if frames of another protocol than the device's own are to be sent to a device with writes.
  private func allowsWrites(_ plan: SharePlan, _ driver: Driver) throws(AccessoryError) -> Bool {
    let rules = opener.writeRules
    guard rules.hasWrites else { return true }
    if plan.write || !rules.names(driver.name) { try rules.checkBytes(isAsked: plan.write) }
    return plan.write
  }
}
