// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import CommandOutput

/// The output of `identify --json`: the plan and the result.
struct IdentifyDocument: Encodable {
  struct Step: Encodable {
    let step: Int
    let kinds: [String]
    let baud: UInt32?
    /// The characteristic that is written.
    let characteristic: String?
    let listens: Bool
    let sends: [BytesDocument]
    let farewell: BytesDocument?
    let times: Int
    /// `found`, `nothing` or `skipped`; `planned` where the step wasn't carried out.
    let outcome: String
    /// Why the step was skipped.
    let reason: String?
  }

  struct Find: Encodable {
    let kind: String
    let step: Int
    let baud: UInt32?
    let says: [Fact]
  }

  struct Fact: Encodable {
    let name, text: String
    init(_ fact: IdentificationFind.Fact) { (name, text) = (fact.name, fact.text) }
  }

  struct Noise: Encodable {
    let baud: UInt32?
    let size_bytes: Int
    let first: BytesDocument
    let text, echo: Bool
  }

  struct ProfileText: Encodable {
    let name, yaml: String
    let warning: String?
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.identification
  /// Null where no port was named.
  let device: DeviceDocument?
  let dry_run: Bool
  let steps: [Step]
  let untried: [Fact]
  let found: [Find]
  let refused: [Fact]
  let heard: [Noise]
  let advice: [String]
  let profile: ProfileText?

  /// `outcome` is nil where the plan wasn't carried out.
  init(
    _ device: Device?, _ plan: IdentificationPlan, _ outcome: IdentificationOutcome? = nil,
    _ profile: IdentifiedProfile? = nil, advice: [String] = []
  ) {
    self.device = device.map { DeviceDocument($0) }
    dry_run = outcome == nil
    let foundStep = outcome?.found.first?.step
    let begun = outcome.map { $0.stepCount + $0.skipped.count } ?? 0
    steps = plan.steps.enumerated().map { index, step in
      let skipped = outcome?.skipped[index + 1]
      let result = skipped != nil ? "skipped" : index + 1 == foundStep ? "found" : index < begun ? "nothing" : "planned"
      return Step(
        step: index + 1, kinds: step.kinds, baud: step.line?.baudRate,
        characteristic: step.gatt?.write?.text, listens: step.isListening,
        sends: (step.gatt?.greeting.map { [BytesDocument($0.bytes)] } ?? [])
          + step.sends.map { BytesDocument($0.bytes) },
        farewell: step.farewell.isEmpty ? nil : BytesDocument(step.farewell), times: step.times,
        outcome: result, reason: skipped)
    }
    untried = plan.untried.map(Fact.init)
    found = (outcome?.found ?? []).map { find in
      Find(
        kind: find.kind, step: find.step, baud: find.line?.baudRate, says: find.facts.map(Fact.init))
    }
    refused = (outcome?.refusals ?? []).map(Fact.init)
    heard = (outcome?.noise ?? []).map { noise in
      Noise(
        baud: noise.baudRate, size_bytes: noise.byteCount, first: BytesDocument(noise.first),
        text: noise.looksLikeText, echo: noise.isEcho)
    }
    self.advice = advice
    self.profile =
      profile.map { ProfileText(name: $0.name, yaml: $0.text, warning: $0.warning) }
  }
}
