// SPDX-License-Identifier: Apache-2.0

/// The frame around the contents of all pages.
enum PageFrame {
  /// A whole page. `root` is the relative path to the list's folder: empty, or "../". `events` is the address of the stream of
  /// changes. `isLive` is false for a page that doesn't change. `back` is a link and its text.
  static func html(
    title: String, heading: String, main: String, root: String, events: String?, hasScript: Bool = false,
    back: (link: String, text: String)? = nil, footer: String
  ) -> String {
    let live = events.map { " data-events=\"\(HTML.text($0, limit: 1_000))\"" } ?? ""
    let link =
      back.map { "<a class=\"back\" href=\"\(HTML.text($0.link, limit: 400))\">\(HTML.text($0.text))</a>" } ?? ""
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>\(HTML.text(title))</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="stylesheet" href="\(root)page.css">
      <link rel="icon" href="\(root)icon.svg" type="image/svg+xml">
      \(events == nil && !hasScript ? "" : "<script src=\"\(root)page.js\" defer></script>")
      \(events == nil ? "" : "<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>")
      </head>
      <body\(live)>
      <a class="skip" href="#main">Skip to the contents</a>
      <header>\(link)\(heading)</header>
      <p id="offline" role="alert" hidden>The page has lost its connection: what you see may be old. It tries again by itself.</p>
      <main id="main" tabindex="-1">\(main)</main>
      <footer><p>\(HTML.text(footer))</p></footer>
      </body>
      </html>

      """
  }
}
