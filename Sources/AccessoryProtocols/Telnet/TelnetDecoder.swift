// SPDX-License-Identifier: Apache-2.0

/// Separates data from telnet commands in a stream of bytes, which may arrive in any pieces. It only keeps a
/// sub-negotiation that hasn't ended, up to a limit.
public struct TelnetDecoder: Sendable {
  /// A part of the stream.
  public enum Event: Sendable, Hashable {
    /// Data, with each doubled FF reduced to one.
    case data([UInt8])
    /// A command without parameters. Unknown commands are ignored.
    case command(Telnet.Command)
    /// A command about an option, which may be unknown.
    case option(Telnet.Verb, UInt8)
    /// A sub-negotiation about an option, with each doubled FF reduced to one.
    case subnegotiation(UInt8, [UInt8])
  }

  private enum State {
    case data, command
    case option(Telnet.Verb)
    case subnegotiation, subnegotiationCommand
  }

  private var state = State.data
  /// The bytes of an unfinished sub-negotiation, from its option on.
  private var pending: [UInt8] = []
  private var isTooLong = false

  /// The longest sub-negotiation with its option, in bytes. A longer one is ignored.
  public static let longestSubnegotiation = 256

  /// A decoder at the beginning of a stream.
  public init() {}

  /// How many bytes of an unfinished sub-negotiation are kept.
  public var pendingCount: Int { pending.count }

  /// Takes the next bytes of the stream, and appends the parts that they complete.
  public mutating func decode(_ bytes: [UInt8], into events: inout [Event]) {
    var data: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if case .data = state {
        // All bytes up to the next IAC are data.
        let end = bytes[index...].firstIndex(of: Telnet.iac) ?? bytes.endIndex
        data += bytes[index..<end]
        guard end < bytes.endIndex else { break }
        state = .command
        index = end + 1
        continue
      }
      take(bytes[index], &data, &events)
      index += 1
    }
    Self.flush(&data, &events)
  }

  private static func flush(_ data: inout [UInt8], _ events: inout [Event]) {
    guard !data.isEmpty else { return }
    events.append(.data(data))
    data = []
  }

  private mutating func take(_ byte: UInt8, _ data: inout [UInt8], _ events: inout [Event]) {
    switch state {
    case .data: data.append(byte)
    case .command: command(byte, &data, &events)
    case .option(let verb):
      Self.flush(&data, &events)
      events.append(.option(verb, byte))
      state = .data
    case .subnegotiation:
      if byte == Telnet.iac { state = .subnegotiationCommand } else { keep(byte) }
    case .subnegotiationCommand:
      switch byte {
      case Telnet.iac:
        keep(byte)
        state = .subnegotiation
      case Telnet.se:
        Self.flush(&data, &events)
        if !isTooLong, let option = pending.first {
          events.append(.subnegotiation(option, Array(pending.dropFirst())))
        }
        endSubnegotiation()
      default:
        // The sub-negotiation has no end: it is dropped, and this byte is a command.
        endSubnegotiation()
        command(byte, &data, &events)
      }
    }
  }

  private mutating func command(_ byte: UInt8, _ data: inout [UInt8], _ events: inout [Event]) {
    state = .data
    if byte == Telnet.iac {
      data.append(byte)
    } else if byte == Telnet.sb {
      state = .subnegotiation
    } else if let verb = Telnet.Verb(rawValue: byte) {
      state = .option(verb)
    } else if let command = Telnet.Command(rawValue: byte) {
      Self.flush(&data, &events)
      events.append(.command(command))
    }
  }

  private mutating func keep(_ byte: UInt8) {
    if pending.count < Self.longestSubnegotiation { pending.append(byte) } else { isTooLong = true }
  }

  private mutating func endSubnegotiation() {
    pending.removeAll(keepingCapacity: true)
    isTooLong = false
    state = .data
  }
}
