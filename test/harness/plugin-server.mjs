import { createInterface } from 'node:readline';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

const ownRequire = createRequire(import.meta.url);
export const protobuf = ownRequire('protobufjs');
// The official gRPC for Node, which is a dependency of etcd3.
const grpc = createRequire(ownRequire.resolve('etcd3'))('@grpc/grpc-js');

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/**
 * Serves a plug-in over gRPC on a Unix socket. `state` has the behaviour of each method: ok, hang, error, garbage (bytes
 * that are no message) or huge (10 MB). `answers` has the answers of methods that are ok. Reads one JSON document per line,
 * whose `set` changes the state, and prints the result of `obey`, by default the number of calls so far.
 */
export function servePlugin({ socket, service, root, types, state, answers, obey = () => undefined }) {
  const names = Object.keys(answers);
  const calls = Object.fromEntries(names.map((name) => [name, 0]));

  const handler = (name) => (call, respond) => {
    calls[name]++;
    switch (state[name]) {
      case 'hang':
        return;
      case 'error':
        return respond({ code: grpc.status.PERMISSION_DENIED, details: 'hsm-password-is-4711' });
      case 'garbage':
        return respond(null, createHash('sha512').update('garbage').digest());
      case 'huge':
        return respond(null, Buffer.alloc(10_000_000, 0x0a));
      default:
        try {
          return respond(null, answers[name](call.request));
        } catch (error) {
          return respond({ code: grpc.status.INVALID_ARGUMENT, details: String(error) });
        }
    }
  };

  function method(name) {
    const [request, response] = types(name).map((type) => root.lookupType(type));
    return {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes) => request.decode(bytes),
      responseSerialize: (value) =>
        Buffer.isBuffer(value) ? value : Buffer.from(response.encode(response.fromObject(value)).finish()),
      requestSerialize: () => Buffer.alloc(0),
      responseDeserialize: () => ({}),
    };
  }

  const server = new grpc.Server();
  server.addService(
    Object.fromEntries(names.map((name) => [name, method(name)])),
    Object.fromEntries(names.map((name) => [name, handler(name)])),
  );

  createInterface(process.stdin).on('line', (line) => {
    const order = JSON.parse(line);
    Object.assign(state, order.set);
    print(obey(order) ?? { calls });
  });
  process.stdin.on('end', () => process.exit(0));

  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
    if (error) throw error;
    print({ listening: socket });
  });
}
