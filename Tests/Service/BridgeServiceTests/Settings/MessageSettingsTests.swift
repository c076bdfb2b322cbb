// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import Testing

@testable import BridgeService

/// The ways to tell people of alarms in the service's configuration.
@Suite struct MessageSettingsTests {
  private func settings(_ text: String) throws(ProfileProblems) -> ServiceSettings {
    try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: .builtIn, profiles: [])
  }

  @Test func waysAreReadAndAlarmsNameThem() throws {
    let read = try settings(
      """
      messages:
      - name: phone
        ntfy: https://ntfy.sh/attic-7Jq_2
        token_file: /etc/accessory-bridge/ntfy.token
        repeat: 1h
      - webhook: http://192.168.1.2:8123/api/webhook/x
      - name: me
        mail: owner@example.org
        from: pi@example.org
      - run: /usr/local/bin/on-alarm
      alarms:
      - fault
      - accessory: SIM0001
        rules: [battery < 20 %]
        tell: [phone, me]
      - driver: framed
        rules: ["hot: temperature > 50"]
        tell: webhook
      - rules: [silent for 5 min]
        tell: none
      """)
    #expect(
      read.messages == [
        MessageWay(
          "phone", .ntfy(url: "https://ntfy.sh/attic-7Jq_2"), tokenFile: "/etc/accessory-bridge/ntfy.token",
          repetition: .seconds(3_600)),
        MessageWay("webhook", .webhook(url: "http://192.168.1.2:8123/api/webhook/x")),
        MessageWay("me", .mail(to: "owner@example.org", from: "pi@example.org")),
        MessageWay("run", .run(program: "/usr/local/bin/on-alarm")),
      ])
    #expect(read.alarms.map(\.ways) == [nil, ["phone", "me"], ["webhook"], []])
    #expect(read.alarms.map(\.subject) == [nil, .accessory("SIM0001"), .driver("framed"), nil])
  }

  @Test(arguments: [
    ("- ntfy: https://ntfy.sh", "f:2:9: ntfy must end with the topic"),
    ("- ntfy: https://ntfy.sh/a b", "f:2:9: ntfy can't use this URL: it has characters"),
    ("- ntfy: ftp://ntfy.sh/a", "f:2:9: ntfy can't use this URL: it must begin with https:// or http://"),
    ("- webhook: https://me:secret@host/", "f:2:12: webhook can't use this URL: a user and a password"),
    ("- webhook: http://host/x\n  token_file: /t", "f:2:12: webhook can't use this URL: a token needs https://"),
    ("- webhook: https:///x", "f:2:12: webhook can't use this URL: it has no host"),
    ("- mail: 'a b@c'", "f:2:9: mail must be one mail address"),
    ("- mail: a@b,c@d", "f:2:9: mail must be one mail address"),
    ("- mail: -oQ/tmp@c", "f:2:9: mail must be one mail address"),
    ("- mail: a@b\n  token_file: /t", "f:3:15: token_file doesn't belong to mail"),
    ("- run: on-alarm", "f:2:8: run must be a path from the root"),
    ("- run: /x\n  mail: a@b", "f:2:3: an entry names its way by one of ntfy, webhook, mail, run"),
    ("- run: /x\n  repeat: 5s", "f:3:11: repeat must be a time with its unit"),
    ("- run: /x\n  repaet: 5m", "f:3:3: unknown key \"repaet\": did you mean repeat?"),
    ("- run: /x\n- run: /y", "f:3:3: there are two ways with the name \"run\""),
    ("- run: /x\n  name: none", "f:2:3: no way can have the name none"),
    (
      "- run: /x\nalarms:\n- rules: [fault]\n  tell: [phone]",
      "f:5:10: there is no way \"phone\" under messages: there are run"
    ),
    ("[]\nalarms:\n- rules: [fault]", "f:3:3: an entry names its accessories by one of"),
  ])
  func mistakesAreReportedWithTheirPlace(text: String, message: String) {
    do {
      let text = text.hasPrefix("[]") ? "messages: \(text)" : "messages:\n\(text)"
      Issue.record("read: \(try settings(text))")
    } catch {
      #expect(error.problems.first.map { "\($0)".hasPrefix(message) } == true, "\(error.problems)")
    }
  }
}
