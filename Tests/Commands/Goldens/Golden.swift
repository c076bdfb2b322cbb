// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport

/// Answers one after another: what was asked, and what came, with the same stand-ins for all that differs from run to run.
struct Golden {
  private(set) var answers: [(question: String, answer: String)] = []

  /// What a command printed, and its exit status unless that is 0.
  mutating func add(_ words: [String], _ answer: Program.Transcript, _ box: Sandbox) {
    add(words.joined(separator: " "), answer.outputText + answer.errorText, box)
    if let status = answer.status, status != 0 { answers[answers.count - 1].answer += "\nexit status \(status)" }
  }

  /// What came from elsewhere.
  mutating func add(_ question: String, _ answer: String, _ box: Sandbox) {
    answers.append((question, String(Self.lasting(answer, box).trimmingSuffix(while: \.isNewline))))
  }

  // MARK: - What differs from run to run

  private static func lasting(_ text: String, _ box: Sandbox) -> Substring {
    var text = text.replacing(box.runtime.path, with: "RUNTIME").replacing(box.directory.path, with: "HOME")
    text.replace(#//dev/pts/[0-9]+/#) { _ in "/dev/pts/0" }
    text.replace(#/\(pid [0-9]+\)/#) { _ in "(pid 1)" }
    // How long a reading stays fresh differs from run to run, and so does whether that is known yet.
    text.replace(#/"fresh_ms":[0-9]+,|,"fresh_ms":[0-9]+/#) { _ in "" }
    text.replace(
      #/"(age_ms|readings_age_ms|time|since|connected_since|last_seen|attached_at|pid|uptime_s)":(?:null|-?[0-9]+(?:\.[0-9]+)?)/#
    ) {
      "\"\($0.output.1)\":0"
    }
    text.replace(#/(_timestamp_seconds\{[^}]*\}) [0-9.e+]+/#) { "\($0.output.1) 0" }
    return text[...]
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isUnwanted: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isUnwanted(last) { rest.removeLast() }
    return rest
  }
}
