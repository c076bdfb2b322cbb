// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import CommandOutput
import Glibc

/// Why an answer is asked for again.
struct WrongAnswer: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Asks at the terminal until an answer is right. Where nobody is asked, the usual answer counts.
struct SetupQuestions: Sendable {
  let isAsking: Bool
  /// An input of so many wrong answers isn't a person's.
  private static let limit = 20

  /// Asks until `meaning` doesn't throw. An empty answer is `usual`. Throws `cancelled` at the end of the input and when the command is
  /// interrupted, and `UsageError` where nobody is asked and there is no usual answer.
  func ask<Answer>(
    _ question: String, usual: String?, isSecret: Bool = false, _ meaning: (String) async throws -> Answer
  ) async throws -> Answer {
    guard isAsking else {
      guard let usual else { throw UsageError("\(question) Nobody can be asked: an option has to say it") }
      do { return try await meaning(usual) } catch let error as WrongAnswer { throw UsageError(error.text) }
    }
    let shown = usual.map { $0.isEmpty ? "" : "[\(SafeText.escape($0, limit: 200))] " } ?? ""
    for _ in 0..<Self.limit {
      let line: String?
      do throws(AccessoryError) {
        line = try await isSecret ? Self.hidden("\(question) ") : Consent.line("\(question) \(shown)")
      } catch {
        throw AccessoryError(.cancelled, "nothing was written")
      }
      guard let line else { break }
      let answer = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
      do {
        return try await meaning(answer.isEmpty ? usual ?? "" : answer)
      } catch {
        guard let text = Self.complaint(error) else { throw error }
        Output.note(text)
      }
    }
    throw AccessoryError(.cancelled, "there was no answer: nothing was written")
  }

  /// Asks for yes or no.
  func agrees(_ question: String, usual: Bool) async throws -> Bool {
    try await ask("\(question) [\(usual ? "Y/n" : "y/N")]", usual: "") { word in
      switch word.lowercased() {
      case "y", "yes": true
      case "n", "no": false
      case "": usual
      default: throw WrongAnswer("Type y or n.")
      }
    }
  }

  /// What is wrong with an answer; nil for an error that ends the questions.
  private static func complaint(_ error: any Error) -> String? {
    switch error {
    case let error as WrongAnswer: error.text
    case let error as UsageError: error.description
    case let error as ResolutionError: error.description
    case let error as AccessoryError where error.kind != .cancelled: error.message
    default: nil
    }
  }

  /// Asks without showing what is typed.
  private static func hidden(_ question: String) async throws(AccessoryError) -> String? {
    var settings = termios()
    let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
    var silent = settings
    silent.c_lflag &= ~tcflag_t(ECHO)
    if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) }
    defer {
      if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
      Output.note("")
    }
    return try await Consent.line(question)
  }
}
