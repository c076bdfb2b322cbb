// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What a shell offers while a command is typed: the real bash with the script that the command makes for it.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct CompletionTests {
  /// Loads the script and completes each line, which has a blank between two words and none in one.
  private static let program = #"""
    source "$1"
    read -r _ _ function _ <<< "$(complete -p bridge-cli | sed 's/.*\(-F [^ ]*\).*/x x &/; s/.*-F /x x /')"
    shift
    for line; do
      IFS=' ' read -r -a COMP_WORDS <<< "$(sed 's/[:@]/ & /g' <<< "$line")"
      [[ "$line" == *' ' ]] && COMP_WORDS+=('')
      COMP_LINE=$line COMP_POINT=${#line} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
      "$function" bridge-cli "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
      (IFS='|'; printf '%s\n' "${COMPREPLY[*]}")
    done
    """#

  /// What bash offers for each line; with `|` between several.
  private func offered(
    _ lines: [String], in box: Sandbox, environment: [String: String] = [:]
  ) async throws -> [String] {
    let script = try await box.run("--generate-completion-script", "bash")
    #expect(script.status == 0, "\(script.errorText)")
    try box.directory.write(Array(script.outputText.utf8), to: "completion")
    let folder = "/" + Sandbox.command.split(separator: "/").dropLast().joined(separator: "/")
    let shell = try await Program(
      ["/bin/bash", "--norc", "-c", Self.program, "bash", "completion"] + lines,
      environment: box.variables(environment.merging(["PATH": folder + ":/usr/bin:/bin"]) { $1 }),
      directory: box.directory.path,
      limit: .seconds(240)
    ).end()
    #expect(shell.errorText == "")
    return Array(shell.lines)
  }

  /// Devices on the air are offered that BlueZ knows; nothing is searched for that.
  @Test func devicesOnTheAirAreOffered() async throws {
    try await Sandbox.with { box in
      let air = try PretendedAir()
      defer { air.close() }
      let commands = ["battery", "attach", "trace", "console", "bluetooth pair", "bluetooth unpair", "bluetooth trust"]
      let lines = commands.map { "bridge-cli \($0) ble:C4" }
      let offered = try await offered(lines, in: box, environment: air.environment)
      for (line, words) in zip(lines, offered) {
        // bash takes the colons for the ends of words.
        #expect(words.hasSuffix("C4:BE:84:12:34:56"), "\(line): \(words)")
      }
      #expect(!air.bus.calls.contains { ["StartDiscovery", "Connect", "Pair"].contains($0.member) })
    }
  }

  @Test func whatIsThereIsOffered() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc")
      _ = try await box.simulate("--serial=AA:01@x")
      for file in ["firmware.bin", "lamp.yaml", "drive.log"] { try box.directory.write([], to: file) }
      let expected = [
        ("bridge-cli bat", "battery"),
        // Accessories, and files where a path is typed.
        ("bridge-cli battery ", "SIM0001|AA:01@x"), ("bridge-cli battery SIM", "SIM0001"),
        ("bridge-cli battery ./ac", "./acc"),
        ("bridge-cli doctor S", "SIM0001"), ("bridge-cli request S", "SIM0001"), ("bridge-cli trace S", "SIM0001"),
        ("bridge-cli trace dr", "drive.log"), ("bridge-cli profile identify \(simulator.path)", simulator.path),
        ("bridge-cli file send SIM0001 firm", "firmware.bin"), ("bridge-cli file get SIM0001 x firm", "firmware.bin"),
        // A folder of the accessory's is none of this machine's.
        ("bridge-cli file ls SIM0001 ", ""), ("bridge-cli file mkdir SIM0001 l", ""),
        ("bridge-cli check l", "lamp.yaml"), ("bridge-cli console --log dr", "drive.log"),
        ("bridge-cli trace --record dr", "drive.log"), ("bridge-cli profile new --from dr", "drive.log"),
        // Names of what the command knows.
        ("bridge-cli battery --driver hm", "hm10|hm1x"), ("bridge-cli battery --driver ./l", "./lamp.yaml"),
        ("bridge-cli profile show ev", "ev3"), ("bridge-cli attach --profile ev", "ev3"),
        ("bridge-cli simulate described --profile pi", "pi30"),
        ("bridge-cli request SIM0001 st", "status"), ("bridge-cli request X --driver ev3 set-v", "set-volume"),
        ("bridge-cli battery --hist", ""), ("bridge-cli history --pl", "--plot"),
        ("bridge-cli identi", ""), ("bridge-cli send", ""), ("bridge-cli fil", "file"),
        // bash splits words at colons and at signs, and replaces only the part after the last one.
        ("bridge-cli battery AA:", "01@x"), ("bridge-cli battery AA:0", "01@x"), ("bridge-cli battery AA:01@", "x"),
        ("bridge-cli request AA:01@x batt", "battery"),
      ]
      let answers = try await offered(expected.map(\.0), in: box)
      try #require(answers.count == expected.count, "\(answers)")
      // The order of accessories is that of their terminals, whose numbers may have one digit or two.
      for ((line, words), answer) in zip(expected, answers) {
        #expect(answer.split(separator: "|").sorted() == words.split(separator: "|").sorted(), "\(line)")
      }
    }
  }

  /// bash expands the words that it is offered.
  @Test func aSerialNumberIsNotCarriedOut() async throws {
    try await Sandbox.with { box in
      let names = ["$(touch$IFS'one')", "`touch two`", "; touch three;", "-x", "a b", "é", "\u{1B}]0;x"]
      for name in names { _ = try await box.simulate("--serial=\(name)", "--name", "$(touch four)") }
      let answers = try await offered(["bridge-cli battery ", "bridge-cli request "], in: box)
      for answer in answers {
        // They are called by their paths.
        #expect(answer.split(separator: "|").count == names.count)
        #expect(answer.split(separator: "|").allSatisfy { $0.hasPrefix("/dev/pts/") }, "\(answer)")
      }
      #expect(box.directory.names() == ["completion"])
    }
  }

  /// The other shells' scripts go on to files, too, where the command has nothing to offer.
  @Test(arguments: [
    ("zsh", "(( compstate[nmatches] )) || _files"), ("fish", "__fish_complete_path"), ("bash", "_add_completions -f"),
  ])
  func completionScriptsAreMadeForEachShell(shell: String, part: String) async throws {
    try await Sandbox.with { box in
      for words in [["--generate-completion-script", shell], ["--generate-completion-script=" + shell]] {
        let script = try await box.run(words)
        #expect(script.status == 0)
        #expect(script.errorText == "")
        #expect(script.outputText.contains(part), "\(shell)")
      }
      let none = try await box.run("--generate-completion-script", "csh")
      #expect(none.status == EX_USAGE && none.outputText == "", "\(none.errorText)")
    }
  }
}
