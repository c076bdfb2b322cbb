// SPDX-License-Identifier: Apache-2.0

/// The state of the options of a connection, and the answers to the other end's commands about them (RFC 854). The
/// states are those of RFC 1143, without its queue: no offer or request is taken back here before it is answered.
public struct TelnetOptions: Sendable {
  private enum State { case no, asked, yes }

  /// The options that this end may use, and those that the other end may use.
  private let ours: Set<Telnet.Option>
  private let theirs: Set<Telnet.Option>
  private var ownStates: [Telnet.Option: State] = [:]
  private var peerStates: [Telnet.Option: State] = [:]

  /// No option is in use yet. `ours` are the options that this end may use, `theirs` those that the other end may use.
  public init(ours: Set<Telnet.Option>, theirs: Set<Telnet.Option>) {
    self.ours = ours
    self.theirs = theirs
  }

  /// Whether this end uses the option.
  public func isOurs(_ option: Telnet.Option) -> Bool { ownStates[option] == .yes }
  /// Whether the other end uses the option.
  public func isTheirs(_ option: Telnet.Option) -> Bool { peerStates[option] == .yes }

  /// Offers to use an option. Returns the bytes to send; none if it was offered before or is in use.
  public mutating func offer(_ option: Telnet.Option) -> [UInt8] {
    guard ownStates[option, default: .no] == .no else { return [] }
    ownStates[option] = .asked
    return Telnet.optionCommand(.will, option.rawValue)
  }

  /// Asks the other end to use an option. Returns the bytes to send; none if it was asked before or uses it.
  public mutating func ask(_ option: Telnet.Option) -> [UInt8] {
    guard peerStates[option, default: .no] == .no else { return [] }
    peerStates[option] = .asked
    return Telnet.optionCommand(.do, option.rawValue)
  }

  /// Handles a command of the other end. Returns the answer to send, which may be empty.
  public mutating func receive(_ verb: Telnet.Verb, _ number: UInt8) -> [UInt8] {
    let option = Telnet.Option(rawValue: number)
    switch verb {
    case .do:
      guard let option, ours.contains(option) else { return Telnet.optionCommand(.wont, number) }
      defer { ownStates[option] = .yes }
      return ownStates[option, default: .no] == .no ? Telnet.optionCommand(.will, number) : []
    case .dont:
      guard let option, ours.contains(option) else { return [] }
      defer { ownStates[option] = .no }
      return ownStates[option] == .yes ? Telnet.optionCommand(.wont, number) : []
    case .will:
      guard let option, theirs.contains(option) else { return Telnet.optionCommand(.dont, number) }
      defer { peerStates[option] = .yes }
      return peerStates[option, default: .no] == .no ? Telnet.optionCommand(.do, number) : []
    case .wont:
      guard let option, theirs.contains(option) else { return [] }
      defer { peerStates[option] = .no }
      return peerStates[option] == .yes ? Telnet.optionCommand(.dont, number) : []
    }
  }
}
