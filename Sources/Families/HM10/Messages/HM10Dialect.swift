// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Whether commands and replies have a line end, by which genuine modules and clones differ.
///
/// The reply to AT shows which one a module is. A genuine module answers `AT` without a line end by `OK` without one. A
/// clone (CC41, BT05 and others) only answers `AT` with a line end, by `OK` with a line end.
public enum HM10Dialect: Sendable, Hashable, CaseIterable {
  /// Commands and replies have no terminator; silence ends them.
  case genuine
  /// Commands and replies end with CR LF.
  case clone

  /// The line end of commands and replies; empty for a genuine module.
  public var lineEnd: [UInt8] { self == .clone ? WireText.lineEnd : [] }

  /// The dialect of a module that answered AT with these bytes; `nil` if they are no reply to AT.
  public init?(answer: [UInt8]) {
    if answer == Array("OK".utf8) {
      self = .genuine
    } else if answer == Array("OK\r\n".utf8) {
      self = .clone
    } else {
      return nil
    }
  }

  /// The framing of replies. Its pattern indices have no meaning outside of the codec; `HM10Reply` reads the bytes.
  ///
  /// To find out the dialect, use the codec of `genuine`, which also knows `OK` with a line end.
  public var codec: ReplyCodec {
    do {
      let patterns = self == .genuine ? HM10Patterns.all : [ReplyPattern("", terminator: WireText.lineEnd)]
      return try ReplyCodec(patterns: patterns, maximumPayload: HM10Limits.reply)
    } catch {
      preconditionFailure("\(error)")  // the arguments are constants within the codec's bounds
    }
  }
}

/// Limits, default settings and times of the HM-10 (its datasheet of 2015-03-08).
public enum HM10Limits {
  /// The factory setting of the bit rate, in bits a second; with eight data bits, no parity, one stop bit.
  public static let baudRate = 9_600
  /// The longest name, in bytes.
  public static let name = 12
  /// The longest command that is sent, in bytes. More than 80 would wake a module that sleeps.
  public static let command = 80
  /// The longest reply that is accepted, in bytes.
  public static let reply = 1_024
  /// The indices of found devices with which a module can be told to connect.
  public static let indices = 0...5
  /// How long the line must be silent to end a reply, at 9600 bits a second.
  public static let silence = Duration.milliseconds(50)
  /// How long a command's reply may take.
  public static let timeout = Duration.seconds(1)
  /// How long connecting may take.
  public static let connectTimeout = Duration.seconds(10)
  /// How long to send nothing after the module was reset, renewed or given another bit rate.
  public static let restart = Duration.seconds(1)
}
