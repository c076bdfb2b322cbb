// SPDX-License-Identifier: Apache-2.0

import CommandOutput
import Testing

/// How help lies on a screen.
@Suite struct HelpLayoutTests {
  private let help = """
    OVERVIEW: Shows an accessory's battery, and whether it is charged.

    EXAMPLES
      bridge-cli battery
      bridge-cli battery /dev/ttyUSB0 --json | jq .battery.percent

    ENVIRONMENT
      NAME                  where to look, which is where all the others look, too

    USAGE: bridge-cli battery [<options>] [<device>]

    ARGUMENTS:
      <device>                The accessory; may be left out when there is just one.

    LINE OPTIONS:
      -b, --baud <rate>       Bits a second, any number the port can do.
      --a-long-name <a-long-value>
                              What that is.

    OPTIONS:
      --watch                 Go on.
    """

  @Test func helpFitsTheUsualWidth() {
    #expect(
      HelpLayout.text(help, columns: 60) == """
        OVERVIEW: Shows an accessory's battery, and whether it is
        charged.

        EXAMPLES
          bridge-cli battery
          bridge-cli battery /dev/ttyUSB0 --json | jq
              .battery.percent

        ENVIRONMENT
          NAME                  where to look, which is where all
                                the others look, too

        USAGE: bridge-cli battery [<options>] [<device>]

        ARGUMENTS:
          <device>                The accessory; may be left out
                                  when there is just one.

        OPTIONS:
          --watch                 Go on.

        LINE OPTIONS:
          -b, --baud <rate>       Bits a second, any number the port
                                  can do.
          --a-long-name <a-long-value>
                                  What that is.
        """)
  }

  @Test func helpFitsANarrowScreen() {
    let narrow = HelpLayout.text(help, columns: 40)
    #expect(
      narrow.hasSuffix(
        """
        USAGE: bridge-cli battery [<options>]
               [<device>]

        ARGUMENTS:
          <device>
              The accessory; may be left out
              when there is just one.

        OPTIONS:
          --watch
              Go on.

        LINE OPTIONS:
          -b, --baud <rate>
              Bits a second, any number the port
              can do.
          --a-long-name <a-long-value>
              What that is.
        """))
    #expect(narrow.contains("\n  NAME\n      where to look, which is where all\n      the others look, too\n"))
  }

  /// Nothing is lost, and only a word that is longer than a line stands over.
  @Test(arguments: [1, 20, 33, 40, 79, 80, 200]) func everyWordOfTheHelpStays(columns: Int) {
    func words(_ text: String) -> [Substring] { text.split { " \n".contains($0) } }
    let shown = HelpLayout.text(help, columns: columns)
    #expect(words(shown).sorted() == words(help).sorted())
    for line in shown.split(separator: "\n") where line.count > max(columns, 20) {
      #expect(line.drop { $0 == " " }.split(separator: " ").count == 1, "\(line)")
    }
  }
}
