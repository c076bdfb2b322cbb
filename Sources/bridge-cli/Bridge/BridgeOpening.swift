// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessorySharing
import CommandOutput

/// The unit in which an accessory is shared: single bytes, or whole frames.
enum SharedUnit: String, CaseIterable, Sendable {
  case bytes, frames
}

/// Opens the accessory that a bridge shares, and opens it again each time it is plugged in again. If the service has the
/// accessory open, the bridge goes through the service. Otherwise this process opens the accessory.
struct BridgeOpening: Sendable {
  /// The device's name as the user typed it.
  let text: String?
  let line: LineOptions
  /// Whether clients may send writes, which are commands that change the accessory's state.
  let write: Bool
  /// Whether clients only read, so that none of their bytes are sent to the accessory.
  let isReadOnly: Bool
  /// Records the traffic; nil when it isn't recorded.
  var recorder: BridgeRecorder?
  /// The unit that the user chose. Nil means frames if the protocol is known and clients may send, otherwise bytes.
  let unit: SharedUnit?
  /// Whether the reset in the accessory's profile counts. Otherwise the command line says which one does.
  let usesProfileReset: Bool

  /// An accessory that is open.
  struct Opened {
    var device: SharedDevice
    /// The accessory's name, for people.
    var name: String
    var document: DeviceDocument
    /// What must be done before clients may write, for people; nil if they may, or if the user chose that they only read.
    var advice: String?
  }

  /// Throws `permissionDenied` if the user asks for writes that the accessory's profile doesn't allow. Does nothing if
  /// the accessory isn't there.
  func checkPermission() async throws {
    guard write else { return }
    do {
      if let held = try await HeldDevice.findNow(text, line, asLine: true) {
        try await held.writeRules().checkBytes(isAsked: true)
      } else {
        try await OpenedAccessory.find(text, line, asLine: true).opener.writeRules.checkBytes(isAsked: true)
      }
    } catch let error where Self.mayPass(error) {}
  }

  /// Opens the accessory: for reading only, if clients' bytes may be writes and the user doesn't ask to write. Throws the
  /// errors of finding and opening it, `permissionDenied` when the user asks for writes that aren't allowed, and
  /// `misconfigured` when the user chose frames and the protocol is unknown or can't be routed.
  func open() async throws -> Opened {
    if let held = try await HeldDevice.find(text, line, asLine: true) {
      var opened = try await borrow(held)
      // The service says the profile's name. Its contents are those of the profile that this program finds by that name.
      opened.device.resets = resets(of: await KnownProfiles.store.profile(named: held.accessory.profile ?? ""))
      return opened
    }
    let target = try await OpenedAccessory.find(text, line, asLine: true)
    var opener = target.opener
    opener.asksToWrite = write
    opener.tap = await recorder?.nextTap()
    let document = DeviceDocument(target.device)
    let rules = opener.writeRules
    guard let driver = try framesDriver(opener.driver, label: target.label, rules), let routing = driver.routing else {
      let advice = isReadOnly || write ? nil : rules.adviceForBytes(isAsked: false)
      let onlyReads = isReadOnly || advice != nil
      let transport = onlyReads ? try await opener.unguardedTransport() : try await opener.transport()
      await recorder?.opened(silence: transport.timing.silence, driver: target.driver?.name)
      var device = SharedDevice(transport)
      (device.resets, device.isReadOnly) = (resets(of: opener.profile), onlyReads)
      return Opened(device: device, name: target.label, document: document, advice: advice)
    }
    let allowsWrites = try allowsWrites(rules, driver)
    let transport = try await opener.unguardedTransport()
    await recorder?.opened(silence: transport.timing.silence, driver: driver.name)
    do {
      var device = SharedDevice(transport, routing: try routing(transport, opener.profile, allowsWrites))
      device.resets = resets(of: opener.profile)
      if transport.peer != nil {
        // An EV3 on the network expects a greeting at the start of each connection.
        let session = AccessorySession(transport)
        device.session = session
        try await driver.greet(over: session)
      }
      return Opened(device: device, name: target.label, document: document)
    } catch {
      transport.beginClose()
      throw error
    }
  }

  private func resets(of profile: Profile?) -> [LineReset] {
    usesProfileReset ? profile?.reset?.resets ?? [] : []
  }

  private func borrow(_ held: HeldDevice) async throws -> Opened {
    let known = held.accessory.driver.flatMap { KnownDrivers.library.driver(named: $0) }
    // If the service reaches a Modbus accessory by a network, this program can't know how its frames are encoded there.
    let hasKnownFrames = known?.units == nil || !held.name.hasPrefix("tcp:")
    let driver = try framesDriver(hasKnownFrames ? known : nil, label: held.label ?? held.name)
    let isAsked = write && held.accessory.writes != nil
    let advice = driver == nil && !isReadOnly && !write ? await held.writeRules().adviceForBytes(isAsked: false) : nil
    var transport: any Transport
    // The service shares the accessory with its other clients, if it is new enough to have the call `Share`, with frames. Otherwise
    // this program borrows the accessory, and the service lends it only to a client that may send every frame.
    var allowsWrites = held.accessory.writes == nil || isAsked
    if let shared = try await held.calls.share(
      isReadOnly || advice != nil ? .read : .write, by: driver == nil ? .bytes : .frames, write: isAsked)
    {
      transport = shared.transport
    } else {
      transport = try await held.calls.open(write: isAsked).transport
      allowsWrites = true
    }
    if let recorder { transport = TappedTransport(transport, tap: await recorder.nextTap()) }
    await recorder?.opened(silence: held.silence, driver: held.accessory.driver)
    let document = DeviceDocument(held.accessory.device, held: held.accessory)
    do {
      let routing = try driver?.routing?(transport, nil, allowsWrites)
      var device = SharedDevice(transport, routing: routing)
      device.isReadOnly = advice != nil
      return Opened(device: device, name: held.label ?? held.name, document: document, advice: advice)
    } catch {
      transport.beginClose()
      throw error
    }
  }

  /// The driver whose frames are shared; nil when bytes are shared. Throws `misconfigured` when the user chose frames and
  /// the driver can't match replies with requests.
  private func framesDriver(
    _ driver: Driver?, label: String, _ rules: WriteRules? = nil
  ) throws(AccessoryError) -> Driver? {
    switch unit {
    case .bytes?: return nil
    case nil:
      guard !isReadOnly, let driver, driver.routing != nil else { return nil }
      // The frames of another protocol than the device's own are bytes.
      if let rules, !write, rules.hasWrites, !rules.names(driver.name) { return nil }
      return driver
    case .frames?:
      if let driver, driver.routing != nil { return driver }
      let reason = driver.map { "requests of \($0.name) accessories can't be distinguished" }
      throw AccessoryError(
        .misconfigured,
        "\(label) can't be shared by frames, because \(reason ?? "its protocol isn't known"): use --by bytes"
          + (driver == nil ? ", or name the protocol with --driver" : ""))
    }
  }

  /// Whether clients' frames may be writes. Throws `permissionDenied` if the user asks for writes that the profile doesn't
  /// allow, or if frames of another protocol than the device's own are to be sent to a device with writes.
  private func allowsWrites(_ rules: WriteRules, _ driver: Driver) throws(AccessoryError) -> Bool {
    guard rules.hasWrites else { return true }
    if write || !rules.names(driver.name) { try rules.checkBytes(isAsked: write) }
    return write
  }

  /// Whether an error of opening may go away without action by the user.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AccessoryError: [.notFound, .disconnected, .timedOut, .busy, .ioFailure].contains(error.kind)
    case ResolutionError.noDevices, ResolutionError.noMatch: true
    default: false
    }
  }
}
