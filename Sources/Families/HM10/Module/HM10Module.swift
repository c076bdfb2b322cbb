// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An HM-10 or HM-11 Bluetooth module on a serial line: the `hm10` driver.
///
/// `ask` sends a command. While the module is connected to another device, the line carries that device's data: use
/// `send`, and the data among `events`. Commands then fail with `busy`.
public struct HM10Module: Sendable {
  /// The driver's name in profiles and in the announcements of simulators.
  public static let driverName = "hm10"

  /// The link, for requests and events that this driver has no function for.
  public let link: Link<HM10Exchange>

  /// Whether the module is connected to another device.
  public var isConnected: Bool { link.exchange.isConnected }
  /// The address of the connected device, if the module reports it.
  public var peer: BluetoothAddress? { link.exchange.peer }
  /// Whether the module is genuine, or a clone that expects line ends.
  public var dialect: HM10Dialect { link.exchange.codec.dialect }

  /// Makes contact with the module at the other end of `session`. The module owns the session from now on. This ends a
  /// Bluetooth connection, because a connected module accepts no commands.
  ///
  /// Throws `timedOut` when there is no answer, and `disconnected`.
  public static func open(
    _ session: AccessorySession, options: HM10Exchange.Options = .init(), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> HM10Module {
    let rules = HM10Exchange(label: session.label, options: options)
    return HM10Module(link: try await Link.open(session, rules: rules, clock: clock))
  }

  // MARK: - Commands

  /// Sends a command and returns its reply. For a scan this returns at the scan's end, and for a connection when it is made.
  ///
  /// Throws `timedOut` when the module doesn't answer, `busy` while it is connected, `refused`, `notFound` or `disconnected` when a
  /// connection can't be made, `misconfigured` for an argument that isn't valid, and `disconnected` when the module goes.
  @discardableResult
  public func ask(_ command: HM10Command) async throws(AccessoryError) -> HM10Reply {
    switch try await link.request(.command(command)) {
    case .reply(let reply): reply
    case .scan: .discovery(.ended)
    case .connected(let address): .connection(.made(address))
    case .sent: .ok
    }
  }

  /// The module's name. Throws what `ask` throws, and `badData`.
  public func name() async throws(AccessoryError) -> String {
    switch try await ask(.name) {
    case .name(let name): name
    case .clone("NAME", let name): name
    case let reply: throw nonsense(.name, reply)
    }
  }

  /// Sets the module's name, of 1 to 12 bytes. Throws what `ask` throws.
  public func setName(_ name: String) async throws(AccessoryError) { try await ask(.setName(name)) }

  /// The module's address. Throws what `ask` throws, and `badData`.
  public func address() async throws(AccessoryError) -> BluetoothAddress { try await address(.address) }

  /// The address of the device that was connected last. Throws what `ask` throws, and `badData`.
  public func lastAddress() async throws(AccessoryError) -> BluetoothAddress { try await address(.lastAddress) }

  private func address(_ command: HM10Command) async throws(AccessoryError) -> BluetoothAddress {
    switch try await ask(command) {
    case .address(let address), .lastAddress(let address): return address
    case let reply:
      if case .clone(_, let text) = reply, let address = BluetoothAddress(text) { return address }
      throw nonsense(command, reply)
    }
  }

  /// The firmware's version, such as `HMSoft V540`. Sends `AT+VERS?` and, if the module doesn't know that, `AT+VERR?`.
  /// Throws what `ask` throws, and `badData`.
  public func version() async throws(AccessoryError) -> String {
    let reply: HM10Reply
    do throws(AccessoryError) {
      reply = try await ask(.version(.vers))
    } catch {
      guard error.kind == .timedOut || error.kind == .refused else { throw error }
      return try text(try await ask(.version(.verr)), of: .version(.verr))
    }
    return try text(reply, of: .version(.vers))
  }

  /// The module's list of commands, if it has one. Throws what `ask` throws, and `badData`.
  public func help() async throws(AccessoryError) -> String { try text(try await ask(.help), of: .help) }

  private func text(_ reply: HM10Reply, of command: HM10Command) throws(AccessoryError) -> String {
    switch reply {
    case .text: return reply.plainText ?? ""
    case .value(_, let text), .clone(_, let text): return text
    default: throw nonsense(command, reply)
    }
  }

  /// The battery's charge in percent. Accepts all known forms of the reply. Throws what `ask` throws, and `badData`.
  public func batteryPercent() async throws(AccessoryError) -> Int {
    let reply = try await ask(.battery)
    guard let percent = reply.batteryPercent else { throw nonsense(.battery, reply) }
    return percent
  }

  /// The signal strength of a connection in dBm. Only modules in mode 1 and 2 know it, and report it to the other side.
  /// Throws what `ask` throws, and `badData`.
  public func signalStrength() async throws(AccessoryError) -> Int {
    let reply = try await ask(.signalStrength)
    guard case .signalStrength(let strength) = reply else { throw nonsense(.signalStrength, reply) }
    return strength
  }

  /// The value of a setting. Throws what `ask` throws, and `badData`.
  public func value(of setting: HM10Setting) async throws(AccessoryError) -> Int {
    let reply = try await ask(.ask(setting))
    guard let value = setting.value(of: reply) else { throw nonsense(.ask(setting), reply) }
    return value
  }

  /// Changes a setting. Throws what `ask` throws, and `badData` when the module confirms another value.
  public func set(_ setting: HM10Setting, to value: Int) async throws(AccessoryError) {
    let reply = try await ask(.set(setting, value))
    if let is_ = setting.value(of: reply), is_ != value { throw nonsense(.set(setting, value), reply) }
  }

  /// Whether the module is a peripheral or a central. Throws what `value(of:)` throws.
  public func role() async throws(AccessoryError) -> HM10Role {
    HM10Role(rawValue: try await value(of: .role)) ?? .peripheral
  }

  private func nonsense(_ command: HM10Command, _ reply: HM10Reply) -> AccessoryError {
    let wire = (try? command.encoded()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let text = SafeText.escape(String(decoding: reply.encoded, as: UTF8.self))
    return AccessoryError(.badData, "\(label) sent an invalid reply to \(wire): \(text)")
  }
}
