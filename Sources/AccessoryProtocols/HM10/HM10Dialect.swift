// SPDX-License-Identifier: Apache-2.0

/// How a module with the HM-10's commands wants them ended.
///
/// A clone shows itself by its answer to AT: if a bare `AT` gets `OK` and nothing behind it, the module is genuine; if
/// only `AT` with a line end is answered, with `OK` and a line end, it is a clone (CC41, BT05 and others).
public enum HM10Dialect: Sendable, Hashable, CaseIterable {
  /// Nothing ends a command or a reply. Silence does.
  case genuine
  /// CR LF ends both.
  case clone

  /// What a clone's reply ends with, and every command to one.
  public var lineEnd: [UInt8] { self == .clone ? WireText.lineEnd : [] }

  /// The dialect of a module that answered AT with these bytes; `nil` if they are no answer to that.
  public init?(answer: [UInt8]) {
    if answer == Array("OK".utf8) {
      self = .genuine
    } else if answer == Array("OK\r\n".utf8) {
      self = .clone
    } else {
      return nil
    }
  }

  /// The framing of replies. Its pattern numbers mean nothing; `HM10Reply` reads the bytes.
  ///
  /// Fit for finding out the dialect is that of `genuine`, which knows `OK` with a line end, too.
  public var codec: ReplyCodec {
    do {
      let patterns = self == .genuine ? HM10Patterns.all : [ReplyPattern("", terminator: WireText.lineEnd)]
      return try ReplyCodec(patterns: patterns, maximumPayload: HM10Limits.reply)
    } catch {
      preconditionFailure("\(error)")  // these are constants within the codec's bounds
    }
  }
}

/// What the HM-10 takes and sends at most, and how long it takes for it (its datasheet of 2015-03-08).
public enum HM10Limits {
  /// Bits a second, as it comes from the factory; eight data bits, no parity, one stop bit.
  public static let baudRate = 9_600
  /// Bytes of a name.
  public static let name = 12
  /// Bytes of a command that are accepted here: more than 80 would wake a module that sleeps.
  public static let command = 80
  /// Bytes of a reply that are accepted here.
  public static let reply = 1_024
  /// How many of the devices found can be connected to by their index.
  public static let indices = 0...5
  /// How long the line is silent behind a reply, at 9600 bits a second.
  public static let silence = Duration.milliseconds(50)
  /// How long a command's reply may take.
  public static let timeout = Duration.seconds(1)
  /// How long a connection may take until it has failed.
  public static let connectTimeout = Duration.seconds(10)
  /// How long a module must be left alone that was reset, renewed or given another speed.
  public static let restart = Duration.seconds(1)
}
