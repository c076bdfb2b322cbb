// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `trace`: frames as they pass, and recordings of them.
@Suite(.timeLimit(.minutes(10))) struct TraceCommandTests {
  @Test func aRecordingOfASessionWithFaultsDecodesToWhatWasShownLive() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--drop", "0.1", "--corrupt", "0.3", "--seed", "5")
      let trace = try box.start("trace", "--poll", "20ms", "--record", "session.trace", "--json")
      _ = try await trace.lines(60)
      trace.signal(SIGINT)
      let live = try await trace.end()
      #expect(live.status == 0)
      #expect(live.outputText.contains("\"payload_damaged\"") && live.outputText.contains("\"noise\""))
      let again = try await box.run("trace", "session.trace", "--json")
      #expect(again.status == 0)
      #expect(again.outputText == live.outputText)
      // A second trace is appended, and a file that is no recording is left alone.
      let second = try box.start("trace", "--poll", "20ms", "--record", "session.trace")
      _ = try await second.lines(4)
      second.signal(SIGINT)
      _ = try await second.end()
      let both = try await box.run("trace", "session.trace", "--json")
      #expect(both.lines.count > again.lines.count)
      let onto = try await box.run("trace", "--record", "/etc/passwd")
      #expect(onto.status == EX_CANTCREAT)
      let foreign = try await box.run("trace", "/etc/passwd")
      #expect(foreign.status == EX_DATAERR)
    }
  }

  @Test func listeningSendsNothing() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "90", "--drain", "5")
      let trace = try box.start("trace", "--listen", "--json")
      let lines = try await trace.lines(3)
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0)
      #expect(lines.allSatisfy { $0.contains("\"kind\":\"event\"") })
    }
  }

  @Test func framesComeBeforeTheErrorTheyLedTo() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--unplug-after", "2")
      let trace = try await box.run("trace", "--once")
      #expect(trace.status == EX_UNAVAILABLE)
      #expect(trace.lines.contains { $0.contains("reply IDENTIFY") })
      #expect(trace.errorText.contains("was disconnected"))
    }
  }
}

/// `doctor`: what stands in the way of a port.
@Suite(.timeLimit(.minutes(10))) struct DoctorTests {
  @Test func aHealthySimulatorHasNothingInItsWay() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let doctor = try await box.run("doctor", "./acc")
      #expect(doctor.status == 0)
      #expect(!doctor.outputText.contains("problem") && !doctor.outputText.contains("warning"))
    }
  }

  @Test func whoHoldsAPortIsNamed() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let holder = try box.start("battery", "--watch")
      _ = try await holder.lines(1)
      let doctor = try await box.run("doctor", "./acc")
      #expect(doctor.status == EX_UNAVAILABLE)
      #expect(doctor.outputText.contains("(pid \(holder.pid)) holds it"))
    }
  }

  @Test func aPortThatIsNotThere() async throws {
    try await Sandbox.with { box in
      let doctor = try await box.run("doctor", "/dev/ttyUSB99")
      #expect(doctor.status == EX_NOINPUT)
    }
  }
}
