// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

extension DescriptorTransport {
  /// Connects to the stream socket at `path` on a setup queue and hands the connection to `io`.
  ///
  /// Throws `notFound` when there is nothing at this path, `disconnected` when nobody listens there, `misconfigured` for
  /// what is no stream socket or has too long a path, `permissionDenied`, `timedOut` when who listens takes nobody in, and
  /// `cancelled` when the task is cancelled meanwhile.
  public static func open(
    unix path: String, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    let label = label ?? DeviceAddress.unix(path).description
    let setup = SetupQueue(label: label)
    let descriptor = try await setup.run { () throws(AccessoryError) in
      do throws(Errno) {
        return try UnixSocket.connected(to: path, within: connectLimit)
      } catch {
        throw failure(error, path, label)
      }
    }
    if Task.isCancelled {
      await setup.run { Socket.close(descriptor) }
      throw AccessoryError(.cancelled, "connecting to \(label) was cancelled")
    }
    return DescriptorTransport(descriptor: descriptor, label: label, timing: .instant, io: io, setup: setup) {
      Socket.close(descriptor)
    }
  }

  private static func failure(_ errno: Errno, _ path: String, _ label: String) -> AccessoryError {
    func error(_ kind: AccessoryError.Kind, _ message: String) -> AccessoryError {
      AccessoryError(kind, code: .errno(errno.rawValue), "\(label) \(message)")
    }
    switch errno {
    case .noSuchFileOrDirectory, .notDirectory:
      return error(.notFound, "is not there: does the program run that makes this socket?")
    // What is no socket refuses connections, too.
    case .connectionRefused where !isSocket(path): return error(.misconfigured, "is no socket")
    case .connectionRefused:
      return error(.disconnected, "has nobody who listens: does the program run that made this socket?")
    case .protocolWrongTypeForSocket:
      return error(.misconfigured, "is a socket of another kind: a stream socket is wanted")
    case .fileNameTooLong:
      return error(.misconfigured, "has too long a path: those of sockets have at most \(UnixSocket.longestPath) bytes")
    case .wouldBlock: return error(.timedOut, "takes nobody in: too many wait there")
    default: return PortDiagnosis.error(opening: path, label: label, errno)
    }
  }

  /// Whether there is a socket at this path, or nobody can tell.
  private static func isSocket(_ path: String) -> Bool {
    var file = stat()
    return stat(path, &file) != 0 || file.st_mode & S_IFMT == S_IFSOCK
  }
}
