// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import ArgumentParser
import Glibc

/// How the result is printed.
package struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON, one document on each line, also for errors.")
  package var json = false

  package init() {}

  /// Options that are known without a command line.
  package init(json: Bool) { self.json = json }
}

/// A command that can print JSON.
package protocol JSONCommand {
  var output: OutputOptions { get }
}

/// The root command of a program of this package: what its process does from its start to its exit status, and how it reports errors.
package protocol CommandProgram: AsyncParsableCommand {
  /// The program's name, also in its errors.
  static var name: String { get }
  /// The words of the command line that are parsed, without the program's name.
  static var words: [String] { get }
  /// The pages of the program's manual; nil when ArgumentParser can't list the commands.
  static var manual: ManualPages? { get }
  /// The command whose help the command line asks for, and whether with its hidden options.
  static var helped: (command: any ParsableCommand.Type, isWhole: Bool) { get }

  /// Handles what the command line asks for besides commands, and checks it. Returns false if there is a command to run.
  static func runWithoutCommand() async throws -> Bool
  /// The command of words whose form is so plain that they need no parser; nil for all others.
  static func plainCommand(_ words: [String]) -> (any ParsableCommand)?
  /// The report of an error of this program; nil when it is ArgumentParser's.
  static func report(of error: any Error) -> ErrorReport?
  /// The error to report even if the command was interrupted; nil if the interruption may be its cause.
  static func failure(despiteInterruption error: any Error) -> AccessoryError?
  /// Runs `body` while options that only errors show are visible.
  static func explaining(_ body: () -> String) -> String
}

extension CommandProgram {
  package static var words: [String] { Array(CommandLine.arguments.dropFirst()) }
  package static func runWithoutCommand() async throws -> Bool { false }
  package static func plainCommand(_ words: [String]) -> (any ParsableCommand)? { nil }
  package static func failure(despiteInterruption error: any Error) -> AccessoryError? { nil }
  package static func explaining(_ body: () -> String) -> String { body() }

  package static func report(of error: any Error) -> ErrorReport? {
    switch error {
    case let error as AccessoryError: ErrorReport(error)
    case let error as UsageError: ErrorReport(error)
    default: nil
    }
  }

  /// Runs the program to its exit. Call this first, on the main thread and without a task before it.
  @MainActor package static func runProcess() async {
    await CommandProcess.run(failure: { report(early: $0) }, { await runCommandLine() })
  }

  /// Runs the command line; returns the exit status.
  private static func runCommandLine() async -> CInt {
    // Needs none of the commands, whose types the parser would look up first.
    if Array(CommandLine.arguments.dropFirst()) == ["--version"] {
      Output.line(PackageVersion.current)
      return EXIT_SUCCESS
    }
    let command: any ParsableCommand
    do {
      if try writeManual() { return EXIT_SUCCESS }
      if try await runWithoutCommand() { return EXIT_SUCCESS }
    } catch {
      return report(early: error)
    }
    do {
      let words = words
      command = if let plain = plainCommand(words) { plain } else { try await asyncParseAsRoot(words) }
    } catch {
      return report(parsing: error)
    }
    do {
      try await run(command)
      return EXIT_SUCCESS
    } catch {
      return report(error, of: command)
    }
  }

  private static func run(_ command: any ParsableCommand) async throws {
    if let command = command as? any AsyncParsableCommand {
      // ArgumentParser's `run` is on another thread. `command` isn't used here until `run` has returned.
      nonisolated(unsafe) var command = command
      return try await command.run()
    }
    var command = command
    try command.run()
  }

  /// `--generate-manual FOLDER` writes the manual's pages, for `make man`, and creates the folder if it doesn't exist. Like
  /// `--generate-completion-script` it isn't in the help. Returns false without the option.
  private static func writeManual() throws(AccessoryError) -> Bool {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, arguments.first == "--generate-manual", let folder = arguments.last else {
      return false
    }
    guard let manual else { throw AccessoryError(.ioFailure, "this \(name) can't list its commands") }
    try manual.write(into: folder)
    return true
  }
}

// Errors, and the exit statuses that they have.
extension CommandProgram {
  /// Prints the error, as JSON if the command has `--json`, and returns the exit status.
  ///
  /// An interrupted command prints no error, unless the error has another cause than the interruption.
  private static func report(_ error: any Error, of command: any ParsableCommand) -> CInt {
    // A command that runs until it is interrupted ends this way; it isn't a failure.
    if error is CancellationError { return EXIT_SUCCESS }
    let failure = failure(despiteInterruption: error)
    if failure == nil, let signal = Interruption.signal { return ExitStatus.of(signal: signal) }
    guard let report = report(of: failure ?? error) else { return report(parsing: error) }
    report.tell(asJSON: (command as? any JSONCommand)?.output.json == true, program: name)
    return report.exitStatus
  }

  /// Prints an error that was found before the command line was parsed; returns the exit status.
  private static func report(early error: any Error) -> CInt {
    guard let report = report(of: error) else { return report(parsing: error) }
    report.tell(asJSON: wantsJSON, program: name)
    return report.exitStatus
  }

  /// Whether the command line asks for JSON, for use without a parsed command.
  private static var wantsJSON: Bool { CommandLine.arguments.prefix { $0 != "--" }.contains("--json") }

  /// Prints ArgumentParser's own errors, or the help that was asked for; returns the exit status.
  private static func report(parsing error: any Error) -> CInt {
    let status = exitCode(for: error).rawValue
    guard status != EXIT_SUCCESS else {
      let text = fullMessage(for: error)
      if !text.isEmpty { Output.line(HelpScreen.isHelp(text) ? HelpScreen.text(of: self) : text) }
      return status
    }
    // An error may mention an option that only a help topic shows. Output that isn't an error, such as the list of all commands,
    // hides it.
    if status == ExitStatus.usage, wantsJSON {
      ErrorReport(UsageError(explaining { message(for: error) })).tell(asJSON: true, program: name)
      return status
    }
    let text = explaining { fullMessage(for: error) }
    guard !text.isEmpty else { return status }
    // ArgumentParser's prefix of error messages. Replaced by the command's name, as in all our errors.
    let mark = "Error: "
    let isMarked = text.hasPrefix(mark)
    let begin = isMarked ? Style.standardError.red("\(name):") + " " : ""
    Output.note(begin + text.dropFirst(isMarked ? mark.count : 0))
    return status
  }
}

/// A command's help. ArgumentParser writes each paragraph as one line; `HelpLayout` wraps it for the screen.
package enum HelpScreen {
  /// Whether ArgumentParser's text is a command's help.
  fileprivate static func isHelp(_ text: String) -> Bool { text.hasPrefix("OVERVIEW: ") || text.hasPrefix("USAGE: ") }

  /// The help that the command line asks for.
  fileprivate static func text<Program: CommandProgram>(of program: Program.Type) -> String {
    let (command, isWhole) = program.helped
    return text(program.helpMessage(for: command, includeHidden: isWhole, columns: widest))
  }

  /// Help text of `widest` columns, wrapped for the screen.
  package static func text(_ help: String) -> String { HelpLayout.text(help, columns: Output.columns ?? 80) }

  /// Wider than any paragraph, so that ArgumentParser doesn't wrap it.
  package static let widest = 100_000
}
