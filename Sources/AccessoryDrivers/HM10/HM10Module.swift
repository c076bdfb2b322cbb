// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// An HM-10 or HM-11 Bluetooth module on a serial line: the `hm10` driver.
///
/// While it takes commands, `ask` sends any of them. While it is connected to another device the line is that device's:
/// `send` and the data among `events`; commands fail as `busy`.
public struct HM10Module: Sendable {
  /// The name by which profiles and announcements ask for this driver.
  public static let driverName = "hm10"

  /// The link, for what goes beyond this driver.
  public let link: Link<HM10Exchange>

  /// The module's name for people.
  public var label: String { link.label }
  /// Whether it is connected to another device.
  public var isConnected: Bool { link.exchange.isConnected }
  /// To whom it is connected, if it says so.
  public var peer: BluetoothAddress? { link.exchange.peer }
  /// Whether it is genuine, or a clone that wants line ends.
  public var dialect: HM10Dialect { link.exchange.codec.dialect }

  /// Makes contact with the module at the other end of `session`, which belongs to it from now on. Ends a connection
  /// that it has: else it takes no commands.
  ///
  /// Throws `timedOut` when nobody answers, and `disconnected`.
  public static func open(
    _ session: AccessorySession, options: HM10Exchange.Options = .init(), clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> HM10Module {
    let rules = HM10Exchange(label: session.label, options: options)
    return HM10Module(link: try await Link.open(session, rules: rules, clock: clock))
  }

  // MARK: - Commands

  /// Sends a command and gives its reply; of a scan that is its end, and of a connection that it is made.
  ///
  /// Throws `timedOut` when the module doesn't answer, `busy` while it is connected, `refused`, `notFound` and
  /// `disconnected` for a connection that can't be made, `misconfigured` for an argument that can't be, `disconnected`.
  @discardableResult
  public func ask(_ command: HM10Command) async throws(AccessoryError) -> HM10Reply {
    switch try await link.request(.command(command)) {
    case .reply(let reply): reply
    case .scan: .discovery(.ended)
    case .connected(let address): .connection(.made(address))
    case .sent: .ok
    }
  }

  /// What it is called. Throws what `ask` throws, and `badData`.
  public func name() async throws(AccessoryError) -> String {
    switch try await ask(.name) {
    case .name(let name): name
    case .clone("NAME", let name): name
    case let reply: throw nonsense(.name, reply)
    }
  }

  /// Calls it something else, with 1 to 12 bytes. Throws what `ask` throws.
  public func setName(_ name: String) async throws(AccessoryError) { try await ask(.setName(name)) }

  /// Its address. Throws what `ask` throws, and `badData`.
  public func address() async throws(AccessoryError) -> BluetoothAddress { try await address(.address) }

  /// The address of the device that it was connected to last. Throws what `ask` throws, and `badData`.
  public func lastAddress() async throws(AccessoryError) -> BluetoothAddress { try await address(.lastAddress) }

  private func address(_ command: HM10Command) async throws(AccessoryError) -> BluetoothAddress {
    switch try await ask(command) {
    case .address(let address), .lastAddress(let address): return address
    case let reply:
      if case .clone(_, let text) = reply, let address = BluetoothAddress(text) { return address }
      throw nonsense(command, reply)
    }
  }

  /// Its version, such as `HMSoft V540`. It is asked in the two ways that there are. Throws what `ask` throws, and
  /// `badData`.
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

  /// What commands it knows, if it says so. Throws what `ask` throws, and `badData`.
  public func help() async throws(AccessoryError) -> String { try text(try await ask(.help), of: .help) }

  private func text(_ reply: HM10Reply, of command: HM10Command) throws(AccessoryError) -> String {
    switch reply {
    case .text: return reply.plainText ?? ""
    case .value(_, let text), .clone(_, let text): return text
    default: throw nonsense(command, reply)
    }
  }

  /// Its battery in percent, in whichever form it says so. Throws what `ask` throws, and `badData`.
  public func batteryPercent() async throws(AccessoryError) -> UInt8 {
    let reply = try await ask(.battery)
    guard let percent = reply.batteryPercent, let value = UInt8(exactly: percent) else {
      throw nonsense(.battery, reply)
    }
    return value
  }

  /// The strength of a connection's signal in dBm, which only modules of mode 1 and 2 know, and say to the other side.
  /// Throws what `ask` throws, and `badData`.
  public func signalStrength() async throws(AccessoryError) -> Int {
    let reply = try await ask(.signalStrength)
    guard case .signalStrength(let strength) = reply else { throw nonsense(.signalStrength, reply) }
    return strength
  }

  /// What a setting is. Throws what `ask` throws, and `badData`.
  public func value(of setting: HM10Setting) async throws(AccessoryError) -> Int {
    let reply = try await ask(.ask(setting))
    guard let value = setting.value(of: reply) else { throw nonsense(.ask(setting), reply) }
    return value
  }

  /// Changes a setting. Throws what `ask` throws, and `badData` when the module has set something else.
  public func set(_ setting: HM10Setting, to value: Int) async throws(AccessoryError) {
    let reply = try await ask(.set(setting, value))
    if let is_ = setting.value(of: reply), is_ != value { throw nonsense(.set(setting, value), reply) }
  }

  /// What it is in a connection. Throws what `value(of:)` throws.
  public func role() async throws(AccessoryError) -> HM10Role {
    HM10Role(rawValue: try await value(of: .role)) ?? .peripheral
  }

  private func nonsense(_ command: HM10Command, _ reply: HM10Reply) -> AccessoryError {
    let wire = (try? command.encoded()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let text = SafeText.escape(String(decoding: reply.encoded, as: UTF8.self))
    return AccessoryError(.badData, "\(label) answers \(wire) with something else: \(text)")
  }

  /// Closes the link; returns when the device is free for others. A connection of the module stays.
  public func close() async { await link.close() }
}
