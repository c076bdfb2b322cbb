// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A client of NUT's network protocol (RFC 9271), as a value that is given the client's bytes.
///
/// The protocol is read-only here: there are no writable variables and no commands, and `FSD` is refused.
package struct NUTSession: ExportSession {
  /// A line without its end; nil if it is too long.
  package typealias Request = [UInt8]?

  /// The same time as in NUT's own server. Its clients ask every few seconds.
  package static let patience = Duration.seconds(60)
  /// The client is disconnected after this many errors: it speaks another protocol or guesses passwords.
  static let errorLimit = 32
  /// The client is disconnected after this many wrong passwords.
  static let passwordLimit = 3
  static let protocolVersion = "1.3"

  /// The settings shared by all sessions.
  package struct Configuration: Sendable {
    /// Names of the accessories that are UPSs of the clients' machines.
    package var upses: [String] = []
    /// The names that the user has chosen, each for one accessory.
    package var names: [ChosenName] = []
    /// From where on the batteries of UPSs are low: for all, or for one. Of several the last one counts.
    package var limits: [OwnersLimit] = []
    /// Finds the device that a name means among those that are there and those that were; nil where it means none.
    package var find: @Sendable (_ name: String, _ there: [Device], _ gone: [Device]) throws(AmbiguousName) -> Device? =
      { (name, there, gone) throws(AmbiguousName) in (there + gone).first { $0.id == name } }
    /// The users that may log in; nil if everybody may.
    package var users: NUTUsers?
    /// This program's version.
    package var version = ""

    package init(upses: [String] = [], users: NUTUsers? = nil, version: String = "") {
      (self.upses, self.users, self.version) = (upses, users, version)
    }
  }

  /// A name that the user has chosen for a device.
  package struct ChosenName: Sendable, Hashable {
    package let name: String
    /// What names the device.
    package let device: String

    package init(name: String, device: String) { (self.name, self.device) = (name, device) }
  }

  /// A limit that the user has given for the UPS `name`; for all of them where that is nil.
  package struct OwnersLimit: Sendable, Hashable {
    package let name: String?
    package let limit: LowLimit

    package init(name: String?, limit: LowLimit) { (self.name, self.limit) = (name, limit) }
  }

  /// Several devices have a name.
  package struct AmbiguousName: Error { package init() {} }

  let configuration: Configuration
  /// The client's address, for `LIST CLIENT`.
  let address: String
  var username: String?
  var password: String?
  package private(set) var login: ExportLogin?
  private var pending: [UInt8] = []
  private var start = 0
  private var errorCount = 0
  /// Whether the client wants an id for each change that it asks for. There are no changes here.
  private var isTracking = false
  var passwordFailureCount = 0

  package init(_ configuration: Configuration, address: String) {
    (self.configuration, self.address) = (configuration, address)
  }

  // MARK: - Lines

  package mutating func take(_ bytes: [UInt8]) {
    pending.removeFirst(start)
    start = 0
    pending += bytes
  }

  package mutating func next() -> Request? {
    let rest = pending[start...]
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
      guard rest.count > NUTLine.limit else { return nil }
      start = pending.count
      return .some(nil)
    }
    start = end + 1
    var line = rest[..<end]
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line.count > NUTLine.limit ? .some(nil) : Array(line)
  }

  package func needsReadings(_ request: Request) -> Bool {
    guard let line = request, let words = NUTLine.words(line) else { return false }
    return ["LIST", "GET"].contains(words.first?.uppercased())
  }

  package var timeout: [UInt8] { [] }

  // MARK: - Answers

  package mutating func answer(
    _ request: Request, from readings: ReadingsSnapshot, logins: [ExportLogin]
  ) -> ExportAnswer {
    guard let line = request else { return ExportAnswer("ERR \(NUTError.invalidArgument.rawValue)\n", isLast: true) }
    // A web page can make its visitor's browser connect to this machine, but the browser then sends a line that ends with "HTTP/…".
    if let last = NUTLine.words(line)?.last, last.hasPrefix("HTTP/") { return ExportAnswer("", isLast: true) }
    do throws(NUTError) {
      guard let words = NUTLine.words(line), let verb = words.first?.uppercased() else { throw .unknownCommand }
      if verb == "LOGOUT" { return ExportAnswer("OK Goodbye\n", isLast: true) }
      let view = NUTView(readings, configuration, logins)
      return ExportAnswer(try reply(verb, Array(words.dropFirst()), view))
    } catch {
      errorCount += 1
      let isLast = errorCount >= Self.errorLimit || passwordFailureCount >= Self.passwordLimit
      return ExportAnswer("ERR \(error.rawValue)\n", isLast: isLast)
    }
  }

  private mutating func reply(_ verb: String, _ arguments: [String], _ view: NUTView) throws(NUTError) -> String {
    switch verb {
    case "VER": return "Accessory Bridge \(configuration.version)\n"
    case "NETVER", "PROTVER": return Self.protocolVersion + "\n"
    case "HELP":
      return "Commands: HELP VER NETVER PROTVER GET LIST LOGIN LOGOUT USERNAME PASSWORD PRIMARY MASTER\n"
    case "GET":
      guard arguments.first?.uppercased() == "TRACKING" else { return try view.get(arguments) }
      guard arguments.count > 1 else { return isTracking ? "ON\n" : "OFF\n" }
      guard isTracking else { throw .featureNotConfigured }
      return "UNKNOWN\n"
    case "LIST": return try view.list(arguments)
    case "USERNAME": return try take(arguments, into: \.username, orFail: .alreadySetUsername)
    case "PASSWORD": return try take(arguments, into: \.password, orFail: .alreadySetPassword)
    case "LOGIN":
      let name = try view.ups(arguments, count: 1).name
      guard login == nil else { throw .alreadyLoggedIn }
      _ = try user()
      login = ExportLogin(name: name, address: address)
      return "OK\n"
    case "PRIMARY", "MASTER":
      _ = try view.ups(arguments, count: 1)
      if let user = try user(), !user.isPrimary { throw .accessDenied }
      return "OK \(verb)-GRANTED\n"
    case "FSD":
      // `FSD` would shut down the machines of all other clients.
      _ = try view.ups(arguments, count: 1)
      throw .accessDenied
    case "SET":
      let what = arguments.first?.uppercased()
      if what == "TRACKING", arguments.count > 1, ["ON", "OFF"].contains(arguments[1].uppercased()) {
        isTracking = arguments[1].uppercased() == "ON"
        return "OK\n"
      }
      guard what == "VAR", arguments.count == 4 else { throw .invalidArgument }
      _ = try view.variable(Array(arguments[1...2]))
      throw .readOnly
    case "INSTCMD":
      guard (2...3).contains(arguments.count) else { throw .invalidArgument }
      _ = try view.ups(arguments, count: arguments.count)
      throw .commandNotSupported
    case "STARTTLS": throw .featureNotConfigured
    default: throw .unknownCommand
    }
  }

  private mutating func take(
    _ arguments: [String], into field: WritableKeyPath<NUTSession, String?>, orFail error: NUTError
  ) throws(NUTError) -> String {
    guard arguments.count == 1 else { throw .invalidArgument }
    guard self[keyPath: field] == nil else { throw error }
    self[keyPath: field] = arguments[0]
    return "OK\n"
  }

  /// The logged-in user; nil if everybody may log in.
  private mutating func user() throws(NUTError) -> NUTUsers.User? {
    guard let users = configuration.users else { return nil }
    guard let username else { throw .usernameRequired }
    guard let password else { throw .passwordRequired }
    guard let user = users.user(username, password: password) else {
      passwordFailureCount += 1
      throw .accessDenied
    }
    return user
  }
}
