# SPDX-License-Identifier: Apache-2.0
"""Has Home Assistant's own code check what its energy dashboard takes.

A counter of energy must pass the dashboard's validation as it is. Of a device that reports only power, Home Assistant's helper
"Integral" must make a counter that passes it."""

from unittest.mock import patch

from homeassistant.components.energy import validate
from homeassistant.components.integration.sensor import IntegrationSensor
from homeassistant.core import HomeAssistant

# A meter, solar charge controllers, and monitors that count their battery's energy.
COUNTERS = {
    "sdm120": ["value_energy_imported", "value_energy_exported"],
    "epever": ["value_generated", "value_generated_today"],
    "vedirect": ["value_charged_energy", "value_discharged_energy", "value_yield"],
}
# A pack whose power is voltage times current, and a UPS.
POWERS = {"jbd": "power", "pi30": "value_output_power"}


def issues(hass: HomeAssistant, entity_id: str, attributes: dict, state: str) -> list[str]:
    """What the dashboard objects to."""
    hass.states.async_set(entity_id, state, {name: value for name, value in attributes.items() if value is not None})
    found = validate.ValidationIssues()
    with patch.object(validate.recorder, "is_entity_recorded", return_value=True):
        validate._async_validate_usage_stat(
            hass, {entity_id: (1, {})}, entity_id, validate.ENERGY_USAGE_DEVICE_CLASSES, validate.ENERGY_USAGE_UNITS,
            validate.ENERGY_UNIT_ERROR, found)
    return sorted(found.issues)


def attributes(entity: dict) -> dict:
    return {name: entity.get(name) for name in ("device_class", "state_class", "unit_of_measurement")}


def check(hass: HomeAssistant, kind: str, entities: dict[str, dict], states: dict[str, str]) -> list[str]:
    """What is wrong with a kind's entities for the dashboard."""
    wrong = []
    for key in COUNTERS.get(kind, []):
        if key not in entities:
            wrong.append(f"{key} is missing")
            continue
        if entities[key].get("state_class") != "total_increasing":
            wrong.append(f"{key} is no counter")
        wrong += [f"{key}: {issue}" for issue in issues(hass, f"sensor.{kind}_{key}", attributes(entities[key]), states[key])]
    if kind in POWERS:
        key = POWERS[kind]
        source = attributes(entities[key])
        if source["device_class"] != "power" or source["state_class"] != "measurement":
            wrong.append(f"{key} is no measured power")
        hass.states.async_set(f"sensor.{kind}_{key}", states[key], source)
        made = IntegrationSensor(
            integration_method="left", name="energy", round_digits=3, source_entity=f"sensor.{kind}_{key}",
            unique_id=None, unit_prefix="k", unit_time="h", max_sub_interval=None)
        made.hass = hass
        made._derive_and_set_attributes_from_state(hass.states.get(f"sensor.{kind}_{key}"))
        result = {
            "device_class": made.device_class, "state_class": made.state_class, "unit_of_measurement": made.unit_of_measurement,
        }
        wrong += [f"integral of {key}: {issue}" for issue in issues(hass, f"sensor.{kind}_energy", result, "0")]
    # A power is none, so that the check checks something.
    for key, entity in entities.items():
        if entity.get("device_class") == "power" and key in states and not issues(
                hass, f"sensor.{kind}_power_alone", attributes(entity), "1"):
            wrong.append(f"the dashboard takes {key}, which is a power")
    return wrong
