// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// Opens one accessory, from its connection to its disconnection, and knows its open session.
final class AccessoryPort: Sendable {
  private struct State: Sendable {
    var device: Device
    var profile: Profile
    var isConnected = true
    /// The last session, which may be closing still.
    var channel: SessionChannel?
    var onLost: (@Sendable () -> Void)?
  }

  /// Where services answer that may hold it.
  private let services: [String]
  private let drivers: DriverLibrary
  private let state: Locked<State>
  /// Held by the thread that opens a session.
  private let opening = Locked(())

  /// The timeout of opening, without the time that the accessory needs to settle.
  private static let patience = Duration.seconds(10)

  init(device: Device, profile: Profile, services: [String], drivers: DriverLibrary) {
    self.drivers = drivers
    state = Locked(State(device: device, profile: profile))
    self.services = services
  }

  /// As discovery told of it last.
  var device: Device { state.withLock { $0.device } }

  /// How it is opened, and for what.
  var profile: Profile { state.withLock { $0.profile } }

  /// Called when discovery reports the device again with changed properties.
  func changed(_ device: Device) { state.withLock { $0.device = device } }

  /// Called when discovery reports it again, too, and it can be opened for the same protocols as before.
  func changed(_ device: Device, _ profile: Profile) {
    state.withLock { state in
      state.device = device
      if profile.protocolStrings == state.profile.protocolStrings { state.profile = profile }
    }
  }

  /// Sets what is called, on the I/O thread, when a session that was opened here finds that the accessory is gone.
  func onLost(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onLost = body } }

  var isConnected: Bool { state.withLock { $0.isConnected } }

  /// Opens a session, and waits for that. One for the same protocol is closed first. With `writes`, its bytes may change
  /// something in the accessory, if the profile allows that.
  ///
  /// Throws `disconnected`; `unsupported` when the accessory has no such protocol; `busy` when it is open for another
  /// protocol, as it has one line for all of them, or somebody else has it; `timedOut`; and what opening it throws.
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
        "opening \(name)", limit: Self.patience + profile.settle, late: { (late: SessionChannel) in late.beginClose() }
      ) { [services, drivers] () async throws(AccessoryError) in
        await last?.close()
        let session: AccessorySession
        var onLost = lost
        if let held = try await ServiceLoan.open(device, from: services, writes: writes) {
          session = held
          // When a loan ends, the service may have stopped, and the accessory be there still. Discovery, or what the
          // service tells of, says whether it has gone.
          onLost = {}
        } else {
          // A device that only a service could open.
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

  /// The accessory is gone: no more sessions. Calls `body`, once, when the delegates of the last session's streams have
  /// been told, or after `limit`, and then closes it in any case. Does nothing the second time.
  func disconnect(limit: Duration, io: IOThread = .shared, then body: @escaping @Sendable () -> Void) {
    let (wasConnected, channel, onLost) = state.withLock { state in
      defer { (state.isConnected, state.channel, state.onLost) = (false, nil, nil) }
      return (state.isConnected, state.channel, state.onLost)
    }
    _ = onLost  // let go outside the lock
    guard wasConnected else { return }
    guard let channel else { return body() }
    let once = Once(body)
    // If the system reports the removal, a silent terminal or endpoint is closed at once. A simulator hangs up by
    // itself, and its last bytes may be on their way.
    if device.source == .udev { channel.deviceWasRemoved() }
    let timer = io.schedule(at: io.now + limit) {
      channel.beginClose()
      once.run()
    }
    channel.whenTold {
      io.cancel(timer)
      channel.beginClose()
      once.run()
    }
  }
}

/// Runs a body once, however often it is asked to.
private final class Once: Sendable {
  private let body: Locked<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

  func run() {
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}
