// SPDX-License-Identifier: Apache-2.0

extension HM10Command {
  /// Whether `reply` can be the reply to this command. Messages that a module sends unasked may come before it: a
  /// connection was made or lost.
  ///
  /// The reply to a scan is its beginning; it ends with `discovery(.ended)`.
  public func isAnswered(by reply: HM10Reply) -> Bool {
    switch (self, reply) {
    case (.attention, .ok), (.attention, .lost), (.address, .address), (.lastAddress, .lastAddress), (.name, .name),
      (.signalStrength, .signalStrength), (.setName, .set), (.set, .set), (.ask, .get),
      (.start, .acknowledged(.start)), (.clear, .acknowledged(.clear)), (.sleep, .acknowledged(.sleep)),
      (.renew, .acknowledged(.renew)), (.reset, .acknowledged(.reset)), (.version, .text), (.help, .text), (.other, _):
      true
    case (.version, .value(let name, _)): VersionForm(rawValue: name) != nil
    case (.ask(let setting), .value(let name, _)): name == setting.rawValue
    case (.battery, _): reply.batteryPercent != nil
    case (.discover, .discovery(.began)), (.discoverBeacons, .discovery(.began)),
      (.discoverAdvertisements, .discovery(.began)):
      true
    case (.connect, .connection(let result)): result == .accepted || result == .error || result == .failed
    case (.connectIndex(let index), .connection(let result)):
      result == .tryingIndex(index) || result == .error || result == .failed
    case (.connectLast, .connection(let result)):
      result == .tryingLast || result == .noAddress || result == .error || result == .failed
    // A clone's replies don't have the names of its commands, and it confirms every change with a plain OK.
    case (_, .clone): true
    case (.set, .ok), (.setName, .ok), (.renew, .ok), (.reset, .ok): true
    default: false
    }
  }
}

extension HM10Setting {
  /// The value in a reply to a request for this setting, or to a change of it; `nil` if the reply has no such value.
  public func value(of reply: HM10Reply) -> Int? {
    switch reply {
    case .get(let text), .set(let text): value(text)
    case .value(let name, let text), .clone(let name, let text): name == rawValue ? value(text) : nil
    default: nil
    }
  }
}

extension HM10Command {
  /// Makes the module a central or a peripheral, from its next start on.
  public static func setRole(_ role: HM10Role) -> HM10Command { .set(.role, role.rawValue) }
  /// Sets the bit rate of its serial line, from its next start on.
  public static func setSpeed(_ speed: HM10Speed) -> HM10Command { .set(.speed, speed.rawValue) }
  /// Sets what the module does besides passing bytes on.
  public static func setMode(_ mode: HM10Mode) -> HM10Command { .set(.mode, mode.rawValue) }
  /// Sets its transmission power.
  public static func setPower(_ power: HM10Power) -> HM10Command { .set(.power, power.rawValue) }
  /// Sets the parity of its serial line.
  public static func setParity(_ parity: HM10Parity) -> HM10Command { .set(.parity, parity.rawValue) }
}
