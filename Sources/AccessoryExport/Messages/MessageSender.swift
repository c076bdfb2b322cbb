// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// What has become of a message.
package enum MessageOutcome: Sendable, Hashable {
  case sent
  /// It may work later. The text says what happened, and what to do; it has no secrets.
  case failed(String)
  /// It will never work: the other side has refused this message.
  case refused(String)
}

/// Sends a message by a way. Blocks, so call it on a queue of its own.
///
/// HTTP is curl's work, as a program of its own that gets all settings on its standard input: so no secret is in the list of processes,
/// TLS and proxies work as everywhere on the machine, and its updates are the system's. It follows no redirects, so a token goes only to
/// the server that the configuration names.
package struct MessageSender: Sendable {
  /// How long one try may take, in seconds.
  private let seconds: Int64
  private var limit: Duration { .seconds(seconds) }
  /// Programs of the system that aren't in every PATH.
  private static let folders = ["/usr/sbin", "/usr/lib", "/usr/local/sbin", "/usr/bin", "/bin"]

  private let curl, sendmail: String

  /// Other programs than the system's, and another limit, are for tests.
  package init(curl: String = "curl", sendmail: String = "sendmail", seconds: Int64 = 30) {
    (self.curl, self.sendmail, self.seconds) = (curl, sendmail, seconds)
  }

  package func send(_ message: AlarmMessage, by way: MessageWay) -> MessageOutcome {
    do throws(AccessoryError) {
      switch way.kind {
      case .ntfy(let url):
        let slash = url.lastIndex(of: "/") ?? url.startIndex
        let topic = String(url[url.index(after: slash)...])
        return try post(try Self.json { try message.ntfyJSON(topic: topic) }, to: String(url[...slash]), way)
      case .webhook(let url): return try post(try Self.json { try message.webhookJSON() }, to: url, way)
      case .mail(let address, let sender): return try mail(message, to: address, from: sender)
      case .run(let program): return try run(program, message)
      }
    } catch {
      return .failed(error.message)
    }
  }

  private static func json(_ body: () throws -> [UInt8]) throws(AccessoryError) -> [UInt8] {
    do { return try body() } catch { throw AccessoryError(.badData, "the message can't be written as JSON") }
  }

  // MARK: - HTTP

  private func post(_ body: [UInt8], to url: String, _ way: MessageWay) throws(AccessoryError) -> MessageOutcome {
    let token = try way.tokenFile.map { path throws(AccessoryError) in try Self.token(path) }
    let settings = Self.settings(body, to: url, token: token, seconds: seconds)
    let ended: ChildProgram.Ended
    do throws(AccessoryError) {
      // --disable: a user's .curlrc could follow redirects, or write files.
      ended = try ChildProgram.run(
        curl, ["curl", "--disable", "--config", "-"], input: settings, limit: limit + .seconds(5))
    } catch {
      if error.kind == .notFound { return .failed("there is no curl: install the package curl") }
      throw error
    }
    guard let status = ended.status else { return .failed("no answer within \(seconds) s: is the server slow?") }
    let lines = String(decoding: ended.output, as: UTF8.self).split(whereSeparator: \.isNewline)
    let words = lines.first.map { SafeText.escape(String($0), limit: 200) } ?? ""
    guard status == 0 || status == Self.unwritten, let code = lines.last.flatMap({ Int($0) }), code > 0 else {
      return .failed(Self.failure(status, words, seconds: seconds))
    }
    return Self.outcome(code: code, hasToken: token != nil)
  }

  /// The token: a systemd credential with the file's name, otherwise the file.
  private static func token(_ path: String) throws(AccessoryError) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let token = try SecretFile.password(SecretFile.credentialPath(name) ?? path, "token")
    guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw AccessoryError(.misconfigured, "the token in \(path) has blanks, or characters that a token can't have")
    }
    return token
  }

  /// The exit status of curl that can't write what it gets. Only the status of an answer is wanted: /dev/full takes nothing of the rest,
  /// so that curl ends at its first piece, however long it would be.
  private static let unwritten: CInt = 23

  /// The settings for curl, as its --config reads them.
  static func settings(_ body: [UInt8], to url: String, token: String?, seconds: Int64 = 30) -> [UInt8] {
    var lines = [
      "url = \(quoted(url))", "request = \"POST\"", "header = \"Content-Type: application/json\"",
      "user-agent = \"accessory-bridge\"", "data-raw = \(quoted(String(decoding: body, as: UTF8.self)))",
      "proto = \"=http,https\"", "tlsv1.2", "silent", "show-error", "connect-timeout = 10", "max-time = \(seconds)",
      "output = \"/dev/full\"", #"write-out = "\n%{http_code}\n""#,
    ]
    if let token { lines.append("header = \(quoted("Authorization: Bearer \(token)"))") }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// A text in quotes, for curl.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// What curl's exit status means (curl(1)). `words` are its own.
  static func failure(_ status: CInt, _ words: String, seconds: Int64 = 30) -> String {
    let advice =
      switch status {
      case 6: "the host's name isn't known: is the network up, and the name right?"
      case 7: "nothing answers there: is the server up, and the port right?"
      case 28: "no answer within \(seconds) s: is the server slow?"
      case 35, 51, 58, 60, 77: "the server's certificate isn't accepted: is its name right, and this machine's clock?"
      default: "curl ended with \(status)"
      }
    return advice + (words.isEmpty ? "" : " (\(words))")
  }

  /// What an HTTP status means.
  static func outcome(code: Int, hasToken: Bool) -> MessageOutcome {
    switch code {
    case 200..<300: .sent
    case 300..<400: .failed("the server says that it has moved (\(code)): write the new address into the configuration")
    case 401, 403:
      .failed(
        "the server refuses (\(code)): " + (hasToken ? "is the token right?" : "it wants a token: add token_file"))
    case 404, 405, 410: .failed("there is nothing at this address (\(code)): is the URL right?")
    case 408, 425, 429: .failed("the server asks for patience (\(code))")
    case 400, 413, 415, 422: .refused("the server doesn't understand the message (\(code)): is the URL right?")
    default: .failed("the server has a problem (\(code))")
    }
  }

  // MARK: - Programs

  private func mail(_ message: AlarmMessage, to address: String, from: String?) throws(AccessoryError) -> MessageOutcome
  {
    let text = Self.mailText(message, to: address, from: from)
    let paths = sendmail.contains("/") ? [sendmail] : [sendmail] + Self.folders.map { "\($0)/\(sendmail)" }
    for path in paths {
      do throws(AccessoryError) {
        let ended = try ChildProgram.run(path, ["sendmail", "-t", "-i"], input: text, limit: limit)
        return outcome(ended, "sendmail")
      } catch {
        guard error.kind == .notFound else { throw error }
      }
    }
    return .failed("there is no sendmail: install a mail program, for example msmtp-mta or postfix")
  }

  private func run(_ program: String, _ message: AlarmMessage) throws(AccessoryError) -> MessageOutcome {
    let ended = try ChildProgram.run(
      program, [program], extra: message.variables, input: Array((message.title + "\n" + message.text + "\n").utf8),
      limit: limit)
    return outcome(ended, program)
  }

  private func outcome(_ ended: ChildProgram.Ended, _ name: String) -> MessageOutcome {
    let words = String(decoding: ended.output, as: UTF8.self).split(whereSeparator: \.isNewline).last
    let said = words.map { " (\(SafeText.escape(String($0), limit: 200)))" } ?? ""
    guard let status = ended.status else {
      return .failed("\(name) took longer than \(seconds) s and was ended\(said)")
    }
    if status == 0 { return .sent }
    return .failed("\(name) ended with \(status > 0 ? "exit status \(status)" : "signal \(-status)")\(said)")
  }

  /// How a word that RFC 2047 encodes begins.
  static let wordStart = "=?"

  /// The mail as sendmail -t reads it. No text of an accessory can add a header or an address.
  static func mailText(_ message: AlarmMessage, to address: String, from: String?) -> [UInt8] {
    var lines = from.map { ["From: \($0)"] } ?? []
    lines += [
      "To: \(address)", "Subject: \(encodedWord(message.title))", "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated",
      "", message.text,
    ]
    if message.state != .test { lines += ["", "Accessory: \(SafeText.escape(message.accessory, limit: 120))"] }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// A subject with other characters than ASCII, or with what would be read as such a word, as RFC 2047 has it: pieces of at most 75
  /// characters.
  static func encodedWord(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) || text.contains(wordStart) else { return text }
    var words: [String] = []
    var piece = ""
    for scalar in text.unicodeScalars {
      let encoded = String(scalar).utf8.map { byte in
        let isPlain = byte < 0x80 && (UnicodeScalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte))
        if isPlain { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 16, uppercase: true)
        return "=" + (digits.count < 2 ? "0" : "") + digits
      }.joined()
      if piece.utf8.count + encoded.utf8.count > 60 {
        words.append(piece)
        piece = ""
      }
      piece += encoded
    }
    return (words + [piece]).map { "=?utf-8?Q?\($0)?=" }.joined(separator: "\n ")
  }
}
