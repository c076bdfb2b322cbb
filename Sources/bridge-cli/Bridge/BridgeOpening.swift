// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
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

  /// The device that was opened last.
  private let last = LastDevice()

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
      try await Door.findNow(text, line, asLine: true).writeRules().checkBytes(isAsked: true)
    } catch let error where Self.mayPass(error) {}
  }

  /// Opens the accessory: for reading only, if clients' bytes may be writes and the user doesn't ask to write. Throws the
  /// errors of finding and opening it, `permissionDenied` when the user asks for writes that aren't allowed, and
  /// `misconfigured` when the user chose frames and the protocol is unknown or can't be routed.
  func open() async throws -> Opened {
    let found: any FoundAccessory
    if let last = last.device.withLock({ $0 }) {
      found = try await Door.findNow(await Door.again(last, asLine: true), text, line)
    } else {
      found = try await Door.find(text, line, asLine: true)
    }
    let rules = await found.writeRules()
    let driver = try framesDriver(of: found, rules)
    let advice = driver != nil || isReadOnly || write ? nil : rules.adviceForBytes(isAsked: false)
    let onlyReads = driver == nil && (isReadOnly || advice != nil)
    let name = found.driverName
    let shared = try await found.share(
      SharePlan(frames: driver, onlyReads: onlyReads, write: write, tap: await recorder?.nextTap()) { silence in
        await recorder?.opened(silence: silence, driver: name)
      })
    last.device.withLock { $0 = found.device }
    var device = SharedDevice(shared.transport, routing: shared.routing)
    (device.session, device.isReadOnly) = (shared.session, onlyReads)
    device.resets = resets(of: await found.profile())
    return Opened(
      device: device, name: found.label, document: DeviceDocument(found.device, held: found.service?.accessory),
      advice: advice)
  }

  private func resets(of profile: Profile?) -> [LineReset] {
    usesProfileReset ? profile?.reset?.resets ?? [] : []
  }

  /// The driver whose frames are shared; nil when bytes are shared. Throws `misconfigured` when the user chose frames and
  /// the driver can't match replies with requests.
  private func framesDriver(of found: any FoundAccessory, _ rules: WriteRules) throws(AccessoryError) -> Driver? {
    switch unit {
    case .bytes?: return nil
    case nil:
      return isReadOnly ? nil : found.usualFramesDriver(rules, write: write)
    case .frames?:
      let driver = found.framesDriver
      if let driver, driver.routing != nil { return driver }
      let reason = driver.map { "requests of \($0.name) accessories can't be distinguished" }
      throw AccessoryError(
        .misconfigured,
        "\(found.label) can't be shared by frames, because \(reason ?? "its protocol isn't known"): use --by bytes"
          + (driver == nil ? ", or name the protocol with --driver" : ""))
    }
  }

  /// Whether a device on the air is shared.
  var isOnTheAir: Bool {
    DeviceName(text).isBluetooth || last.device.withLock { $0?.address.transport.isBluetooth == true }
  }

  /// Whether an error of opening may go away without action by the user.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AccessoryError: [.notFound, .disconnected, .timedOut, .busy, .ioFailure].contains(error.kind)
    case ResolutionError.noDevices, ResolutionError.noMatch, ResolutionError.otherCapitals: true
    default: false
    }
  }
}

/// The device that a bridge has opened last.
private final class LastDevice: Sendable {
  let device = Locked<Device?>(nil)
}
