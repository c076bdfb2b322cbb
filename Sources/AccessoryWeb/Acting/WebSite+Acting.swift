// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryExport
import AccessoryIO
import CommandOutput

// Performing commands. People may perform what the service permits to clients that only read; the service checks it again.

extension WebSite {
  /// The page with the forms for an accessory's commands.
  func commandsPage(_ segment: Substring, _ request: HTTPRequest, isHead: Bool) async -> WebReply {
    let look = await Look(at: state)
    defer { withExtendedLifetime(look) {} }
    guard let (name, row) = await find(segment) else { return noAccessory(root: "../../", isHead: isHead) }
    guard let acting else { return Self.refusal(.notFound) }
    let commands = await state.commands(of: row)
    let html = PageFrame.html(
      title: "Commands of \(row.title) – \(settings.title)", heading: "<h1>Commands of \(HTML.text(row.title))</h1>",
      main: CommandsPage.main(
        commands, secret: acting.secret.text, outcome: acting.outcome(request.query, of: row.key)),
      root: "../../", events: nil, hasScript: true, back: ("../\(name)", row.title), footer: footer)
    return .page(html, hasForms: true, isHead: isHead)
  }

  /// Performs a command. A script gets the outcome in the reply; a browser gets it on the page with the forms.
  func perform(_ segment: Substring, _ request: HTTPRequest, _ body: [UInt8], from peer: NetworkAddress?) async
    -> WebReply
  {
    let fields: FormFields
    do throws(HTTPRequest.Refusal) {
      guard acting != nil else { throw .methodNotAllowed }
      fields = try check(request, body, from: peer)
    } catch {
      return Self.formRefusal(error)
    }
    let look = await Look(at: state)
    defer { withExtendedLifetime(look) {} }
    guard let (_, row) = await find(segment) else {
      return .refusal(.notFound, "the accessory isn't here any more, so nothing was performed")
    }
    guard let form = CommandForm(fields, among: await state.commands(of: row)) else {
      let command = SafeText.escape(fields[CommandForm.command] ?? "no command", limit: 100)
      settings.performed(Self.who(peer), "refused: \(command) of \(row.name) isn't permitted")
      return .refusal(
        .forbidden, "nothing was performed: the service's configuration doesn't permit this command of \(row.name)")
    }
    let outcome = await outcome(of: form, row, peer)
    if request.accept == "text/plain" { return .outcome(outcome) }
    return .seeOther("commands?outcome=\(keep(outcome, of: row.key))")
  }

  private func outcome(of form: CommandForm, _ row: TopRow, _ peer: NetworkAddress?) async -> CommandOutcome {
    guard form.isConfirmed else { return CommandOutcome(unconfirmed: form) }
    let outcome: CommandOutcome
    do throws(AccessoryError) {
      let answer = try await state.perform(form.command, form.arguments, on: row)
      outcome = CommandOutcome(form, answer: answer.isEmpty ? "" : ValueView.line(answer))
    } catch {
      outcome = CommandOutcome(form, error)
    }
    settings.performed(Self.who(peer), "\(row.name): \(outcome.text)")
    await state.note(outcome.text, of: row)
    return outcome
  }

  private static func who(_ peer: NetworkAddress?) -> String { peer?.host ?? "this machine" }

  private static func formRefusal(_ refusal: HTTPRequest.Refusal) -> WebReply {
    switch refusal {
    case .forbidden:
      .refusal(
        refusal,
        "nothing was performed: the form isn't one of this page, or is from before the server's start. Load the page again"
      )
    case .tooManyRequests:
      .refusal(
        refusal, "nothing was performed: there were too many forms from your address", fields: ["Retry-After: 1"])
    case .badRequest, .unsupportedMediaType: .refusal(refusal, "nothing was performed: this isn't a form of this page")
    default: .refusal(refusal)
    }
  }
}

extension WebReply {
  /// The reply to a script: the outcome of a command.
  static func outcome(_ outcome: CommandOutcome) -> WebReply {
    whole(
      Array((SafeText.escape(outcome.text, limit: 2_000) + "\n").utf8), type: "text/plain; charset=utf-8",
      status: outcome.isPerformed ? "200 OK" : "409 Conflict", isHead: false)
  }

  /// A redirect to the page with the outcome, relative to the form's address.
  static func seeOther(_ path: String) -> WebReply { moved(to: path, status: "303 See Other") }
}
