// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

extension DescriptorTransport {
  /// Connects to the stream socket at `path` on a setup queue, and passes the connection to `io`.
  ///
  /// Throws `notFound` when nothing is at this path, `disconnected` when no program listens there, `misconfigured` when
  /// it isn't a stream socket or its path is too long, `permissionDenied`, `timedOut` when the listening program
  /// doesn't accept the connection in time, and `cancelled` when the task is cancelled meanwhile.
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
      return error(.notFound, "doesn't exist: is the program that creates this socket running?")
    // connect(2) also reports ECONNREFUSED for a file that isn't a socket.
    case .connectionRefused where !isSocket(path): return error(.misconfigured, "is not a socket")
    case .connectionRefused:
      return error(.disconnected, "has no listener: is the program that created this socket running?")
    case .protocolWrongTypeForSocket:
      return error(.misconfigured, "is not a stream socket")
    case .fileNameTooLong:
      return error(
        .misconfigured, "has too long a path: the path of a socket has at most \(UnixSocket.longestPath) bytes")
    case .wouldBlock: return error(.timedOut, "accepts no connection: its queue is full")
    default: return PortDiagnosis.error(opening: path, label: label, errno)
    }
  }

  /// Whether the file at this path is a socket. True when that can't be found out.
  private static func isSocket(_ path: String) -> Bool {
    var file = stat()
    return stat(path, &file) != 0 || file.st_mode & S_IFMT == S_IFSOCK
  }
}
