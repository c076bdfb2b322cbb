// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import ArgumentParser
import CommandOutput
import Glibc

/// Prints errors, and maps them to exit statuses.
enum Failure {
  /// Prints the error, as JSON if the command has `--json`, and returns the exit status.
  ///
  /// An interrupted command prints no error, unless the error has another cause than the interruption.
  static func report(
    _ error: any Error, of command: any ParsableCommand, isInterrupted: Bool = true
  ) -> CInt {
    // Ends commands that run until they are interrupted; that is no failure.
    if error is CancellationError { return EXIT_SUCCESS }
    if let failure = error as? RecordingFailure { return report(failure.error, of: command, isInterrupted: false) }
    if isInterrupted, let signal = Interruption.signal { return ExitStatus.of(signal: signal) }
    guard let report = report(of: error) else { return Self.report(parsing: error) }
    report.tell(asJSON: (command as? any JSONCommand)?.output.json == true, program: BridgeCLI.name)
    return report.exitStatus
  }

  /// Prints an error that was found before the command line was parsed; returns the exit status.
  static func report(early error: any Error) -> CInt {
    guard let report = report(of: error) else { return report(parsing: error) }
    report.tell(asJSON: wantsJSON, program: BridgeCLI.name)
    return report.exitStatus
  }

  private static func report(of error: any Error) -> ErrorReport? {
    switch error {
    case let error as AccessoryError: ErrorReport(error)
    case let error as ResolutionError: ErrorReport(error)
    case let error as UsageError: ErrorReport(error)
    default: nil
    }
  }

  /// Whether the command line asks for JSON, where no parsed command is available.
  private static var wantsJSON: Bool { CommandLine.arguments.prefix { $0 != "--" }.contains("--json") }

  /// Prints ArgumentParser's own errors, or the help that was asked for; returns the exit status.
  static func report(parsing error: any Error) -> CInt {
    let status = BridgeCLI.exitCode(for: error).rawValue
    // An error may be about an option that only a help topic shows. What isn't an error, like the list of all commands, hides it.
    let text =
      status == EXIT_SUCCESS
      ? BridgeCLI.fullMessage(for: error) : HelpTopic.showing { BridgeCLI.fullMessage(for: error) }
    guard status != EXIT_SUCCESS else {
      if !text.isEmpty { Output.line(HelpScreen.isHelp(text) ? HelpScreen.text() : text) }
      return status
    }
    if status == ExitStatus.usage, wantsJSON {
      ErrorReport(UsageError(HelpTopic.showing { BridgeCLI.message(for: error) })).tell(
        asJSON: true, program: BridgeCLI.name)
    } else if !text.isEmpty {
      let isMarked = text.hasPrefix(mark)
      let begin = isMarked ? Style.standardError.red("\(BridgeCLI.name):") + " " : ""
      Output.note(begin + text.dropFirst(isMarked ? mark.count : 0))
    }
    return status
  }

  /// ArgumentParser's prefix of error messages. It is replaced by the command's name, as in all our errors.
  private static let mark = "Error: "
}

extension ErrorReport {
  /// An error on a text that names no device, or several.
  fileprivate init(_ error: ResolutionError) {
    switch error {
    case .ambiguous, .malformed, .noDevice: self.init(UsageError(error.description))
    case .noDevices, .noMatch, .noUnit: self.init(AccessoryError(.notFound, error.description))
    }
  }
}
