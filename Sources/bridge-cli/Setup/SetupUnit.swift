// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers

/// Texts of systemd's units.
enum SetupUnit {
  static func text(_ what: String, _ command: String) -> String {
    """
    [Unit]
    Description=Accessory Bridge: \(what)

    [Service]
    ExecStart=\(command)
    ExecReload=/bin/kill -HUP $MAINPID
    Restart=on-failure
    RestartSec=5s

    [Install]
    WantedBy=default.target

    """
  }

  static func command(of outlet: SetupOutlet, program: String, settings: String) -> (what: String, words: String) {
    switch outlet {
    case .web: ("a page of all accessories, for browsers", program + " web")
    case .homeAssistant: ("lets Home Assistant find the accessories", program + " export home-assistant")
    case .mqtt:
      (
        "publishes accessories on an MQTT broker",
        program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
          + "/bridge-fleet publish --config \(settings)/fleet.yaml"
      )
    case .nut: ("serves accessories as UPSs by NUT's protocol", program + " export nut")
    case .metrics: ("serves readings as metrics for Prometheus", program + " export metrics --listen 127.0.0.1:9879")
    }
  }

  /// The drop-in by which an accessory is the UPS of this machine, and is called ups.
  static func shutdown(_ id: String, program: String) -> String {
    """
    [Service]
    ExecStart=
    ExecStart=\(program) export nut --socket /run/accessory-bridge/readings.socket --socket /run/accessory-bridge-network/readings.socket \
    --name ups=\(id) --ups ups

    """
  }
}
