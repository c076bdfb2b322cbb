// SPDX-License-Identifier: Apache-2.0

/// Builds the entities of an accessory's alarms. Their templates read `FleetState`.
enum AlarmEntities {
  private static let alarms = "value_json.alarms"

  static func all(_ facts: DiscoveryFacts) -> [Entity] {
    guard facts.hasAlarms else { return [] }
    return [
      .truth(
        "alarm", name: "Alarm", deviceClass: "problem",
        "{{ none if \(alarms) is none else 'ON' if \(alarms) else 'OFF' }}"),
      .text(
        "alarms", name: "Alarms",
        "{{ none if \(alarms) is none else (\(alarms) | map(attribute='name') | join(', ') or 'none')[:255] }}"
      ).diagnostic,
    ]
  }
}
