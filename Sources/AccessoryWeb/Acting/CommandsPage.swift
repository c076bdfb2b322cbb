// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The page with a form for each permitted command of an accessory.
enum CommandsPage {
  /// The most forms on a page, and the most words in the list of an argument.
  private static let (formLimit, wordLimit) = (100, 256)

  /// The page's main element. Each form contains `secret`; `outcome` is that of the last command.
  static func main(_ commands: [CommandDescription], secret: String, outcome: CommandOutcome?) -> String {
    let banner = outcome.map {
      "<p class=\"outcome \($0.isPerformed ? "done" : "failed")\" role=\"status\">\(HTML.text($0.text, limit: 2_000))</p>"
    }
    let none = "<p>The service's configuration permits no command of this accessory, or it can't be reached.</p>"
    let forms = commands.prefix(formLimit).map { form($0, secret) }
    return (banner ?? "") + (forms.isEmpty ? none : "<div class=\"columns\">\(forms.joined())</div>")
  }

  private static func form(_ command: CommandDescription, _ secret: String) -> String {
    let name = HTML.text(command.name)
    let arguments = command.arguments.map(field).joined()
    let confirmation =
      command.isWrite
      ? "<label class=\"confirm\">It changes something in the accessory. To perform it, type <code>\(name)</code>"
        + "<input name=\"\(CommandForm.confirmation)\" required autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\"></label>"
      : ""
    return "<form class=\"panel command\" method=\"post\" action=\"commands\"><h2><code>\(name)</code></h2>"
      + "<p>\(HTML.text(command.summary))</p>" + hidden(CommandForm.form, secret)
      + hidden(CommandForm.command, command.name) + arguments + confirmation
      + "<button type=\"submit\">Perform <code>\(name)</code></button><output></output></form>"
  }

  private static func hidden(_ name: String, _ value: String) -> String {
    "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTML.text(value, limit: 1_000))\">"
  }

  private static func field(_ argument: CommandDescription.Argument) -> String {
    let unit = argument.unit.map { " (\($0))" } ?? ""
    let label = HTML.text(argument.name + unit)
    let name = "name=\"\(HTML.text(CommandForm.argument + argument.name, limit: 1_000))\""
    let standard = argument.defaultValue?.typed
    let needed = standard == nil ? " required" : ""
    let value = standard.map { " value=\"\(HTML.text($0, limit: 1_000))\"" } ?? ""
    switch argument.kind {
    case .whole(let range):
      let hint = HTML.text(argument.kind.form)
      let limits =
        (range.lowerBound == .min ? "" : " min=\"\(range.lowerBound)\"")
        + (range.upperBound == .max ? "" : " max=\"\(range.upperBound)\"")
      return "<label>\(label) <small>\(hint)</small>"
        + "<input type=\"number\" step=\"1\" inputmode=\"numeric\" \(name)\(limits)\(value)\(needed)></label>"
    case .choice(let words): return select(label, name, words, standard)
    case .flag: return select(label, name, ["yes", "no"], standard)
    case .choices(let words):
      let chosen = Set((standard ?? "").split(separator: ",").map(String.init))
      let boxes = words.prefix(wordLimit).map { word in
        "<label class=\"box\"><input type=\"checkbox\" \(name) value=\"\(HTML.text(word))\""
          + "\(chosen.contains(word) ? " checked" : "")> \(HTML.text(word))</label>"
      }
      return "<fieldset><legend>\(label)</legend>\(boxes.joined())</fieldset>"
    case .text, .bytes:
      return "<label>\(label) <small>\(HTML.text(argument.kind.form))</small>"
        + "<input \(name)\(value) autocomplete=\"off\" autocapitalize=\"none\" spellcheck=\"false\"></label>"
    }
  }

  private static func select(_ label: String, _ name: String, _ words: [String], _ standard: String?) -> String {
    let options = words.prefix(wordLimit).map { word in
      "<option\(word == standard ? " selected" : "")>\(HTML.text(word))</option>"
    }
    // Without a default nothing is preselected.
    let empty = standard == nil ? "<option value=\"\">choose</option>" : ""
    return
      "<label>\(label)<select \(name)\(standard == nil ? " required" : "")>\(empty)\(options.joined())</select></label>"
  }
}
