// SPDX-License-Identifier: Apache-2.0

/// Which options are in use on a connection, and what is to be said about them (RFC 854; the states of RFC 1143, without its
/// queue, as nothing here is ever taken back while an answer is awaited).
public struct TelnetOptions: Sendable {
  private enum State { case no, asked, yes }

  /// Options that this end may use, and those that the other end may.
  private let ours: Set<Telnet.Option>
  private let theirs: Set<Telnet.Option>
  private var us: [Telnet.Option: State] = [:]
  private var them: [Telnet.Option: State] = [:]

  /// None is in use; each end may use these.
  public init(ours: Set<Telnet.Option>, theirs: Set<Telnet.Option>) {
    self.ours = ours
    self.theirs = theirs
  }

  /// Whether this end uses it.
  public func isOurs(_ option: Telnet.Option) -> Bool { us[option] == .yes }
  /// Whether the other end uses it.
  public func isTheirs(_ option: Telnet.Option) -> Bool { them[option] == .yes }

  /// Offers to use an option; what is to be said.
  public mutating func offer(_ option: Telnet.Option) -> [UInt8] {
    guard us[option, default: .no] == .no else { return [] }
    us[option] = .asked
    return Telnet.say(.will, option.rawValue)
  }

  /// Asks the other end to use an option; what is to be said.
  public mutating func ask(_ option: Telnet.Option) -> [UInt8] {
    guard them[option, default: .no] == .no else { return [] }
    them[option] = .asked
    return Telnet.say(.do, option.rawValue)
  }

  /// The other end says this; returns what is to be answered: nothing, or one thing.
  public mutating func receive(_ verb: Telnet.Verb, _ number: UInt8) -> [UInt8] {
    let option = Telnet.Option(rawValue: number)
    switch verb {
    case .do:
      guard let option, ours.contains(option) else { return Telnet.say(.wont, number) }
      defer { us[option] = .yes }
      return us[option, default: .no] == .no ? Telnet.say(.will, number) : []
    case .dont:
      guard let option, ours.contains(option) else { return [] }
      defer { us[option] = .no }
      return us[option] == .yes ? Telnet.say(.wont, number) : []
    case .will:
      guard let option, theirs.contains(option) else { return Telnet.say(.dont, number) }
      defer { them[option] = .yes }
      return them[option, default: .no] == .no ? Telnet.say(.do, number) : []
    case .wont:
      guard let option, theirs.contains(option) else { return [] }
      defer { them[option] = .no }
      return them[option] == .yes ? Telnet.say(.dont, number) : []
    }
  }
}
