// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink

/// Opens one accessory between its connection and its disconnection, and knows its open session.
final class AccessoryPort: Sendable {
  private struct State: Sendable {
    var device: Device
    var profile: Profile
    var isConnected = true
    /// The last session, which may still be closing.
    var channel: SessionChannel?
    var onLost: (@Sendable () -> Void)?
  }

  /// The sockets of the services that may hold the accessory.
  private let services: [String]
  private let drivers: DriverLibrary
  private let state: Locked<State>
  /// Locked by the thread that opens a session.
  private let opening = Locked(())

  /// The timeout of opening, without the accessory's settle time.
  private static let openTimeout = Duration.seconds(10)

  init(device: Device, profile: Profile, services: [String], drivers: DriverLibrary) {
    self.drivers = drivers
    state = Locked(State(device: device, profile: profile))
    self.services = services
  }

  /// The device as discovery reported it last.
  var device: Device { state.withLock { $0.device } }

  /// The profile with which the accessory is opened.
  var profile: Profile { state.withLock { $0.profile } }

  /// Called when discovery reports the device with changed properties.
  func changed(_ device: Device) { state.withLock { $0.device = device } }

  /// Called when discovery reports a device that a service has reported before. The profile is replaced only if the
  /// protocols are the same.
  func changed(_ device: Device, _ profile: Profile) {
    state.withLock { state in
      state.device = device
      if profile.protocolStrings == state.profile.protocolStrings { state.profile = profile }
    }
  }

  /// Sets a callback, which is called on the I/O thread when a session of this program finds the accessory gone.
  func onLost(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onLost = body } }

  var isConnected: Bool { state.withLock { $0.isConnected } }

  /// Opens a session, and waits until it is open. A session for the same protocol is closed first. With `writes`, the
  /// session's bytes may change something in the accessory, if the profile allows that.
  ///
  /// Throws `disconnected`; `unsupported` when the accessory doesn't have the protocol; `busy` when the accessory is
  /// open for another protocol, since all protocols share one line, or when another program has it; `timedOut`; and the
  /// errors of opening the device.
  func open(_ protocolString: String, writes: Bool = false) throws(AccessoryError) -> SessionChannel {
    let (device, profile) = state.withLock { ($0.device, $0.profile) }
    let name = device.name ?? device.address.description
    guard profile.protocolStrings.contains(protocolString) else {
      throw AccessoryError(.unsupported, "\(name) doesn't speak \(protocolString)")
    }
    return try opening.withLock { _ throws(AccessoryError) in
      let (isConnected, last) = state.withLock { ($0.isConnected, $0.channel) }
      guard isConnected else { throw .disconnected(name) }
      if let last, last.protocolString != protocolString, last.isOpen {
        throw AccessoryError(.busy, "\(name) is open for \(last.protocolString)")
      }
      let lost: @Sendable () -> Void = { [weak self] in self?.lost() }
      let channel = try BlockingCall.run(
        "opening \(name)", limit: Self.openTimeout + profile.settle,
        late: { (late: SessionChannel) in late.beginClose() }
      ) { [services, drivers] () async throws(AccessoryError) in
        await last?.close()
        let session: AccessorySession
        var onLost = lost
        if let held = try await ServiceLoan.open(device, from: services, writes: writes) {
          session = held
          // A loan also ends when the service stops, while the accessory is still there. Discovery or the service's
          // events report whether it is gone.
          onLost = {}
        } else {
          // The profile is one that a service has reported, and the service is gone: this program can't open the
          // device.
          guard !profile.rules.isEmpty else { throw .disconnected(name) }
          var opener = DeviceOpener(device, profile: profile, drivers: drivers)
          opener.asksToWrite = writes
          session = try await opener.greetedSession()
        }
        return SessionChannel(session, protocolString: protocolString, onLost: onLost)
      }
      state.withLock { $0.channel = channel }
      return channel
    }
  }

  private func lost() { state.withLock { $0.onLost }?() }

  // MARK: - The end

  /// The accessory is gone, so no more sessions are opened. Calls `body` once, when the delegates of the last session's
  /// streams have received the end events, or after `limit`; then the session is closed. A second call does nothing.
  func disconnect(limit: Duration, io: IOThread = .shared, then body: @escaping @Sendable () -> Void) {
    let (wasConnected, channel, onLost) = state.withLock { state in
      defer { (state.isConnected, state.channel, state.onLost) = (false, nil, nil) }
      return (state.isConnected, state.channel, state.onLost)
    }
    _ = onLost  // released outside the lock
    guard wasConnected else { return }
    guard let channel else { return body() }
    let told = OneShot<Void>()
    // After a removal that the system reports, a silent terminal or endpoint is closed at once. A simulator hangs up by
    // itself, and its last bytes may still be in transit.
    if device.source == .udev { channel.deviceWasRemoved() }
    let timer = io.schedule(at: io.now + limit) {
      channel.beginClose()
      if told.finish() { body() }
    }
    channel.whenTold {
      io.cancel(timer)
      channel.beginClose()
      if told.finish() { body() }
    }
  }
}
