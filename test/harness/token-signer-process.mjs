// An external signer of service account tokens: a gRPC server on a Unix socket, with the official implementation of gRPC.
// usage: node token-signer-process.mjs SOCKET. Reads one JSON document per line: {"set": {…}} changes its behaviour (below),
// {"sign": {"key": NAME, "claims": TEXT}} prints a token. Prints one JSON document per line as the answer.
import { createInterface } from 'node:readline';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createRequire } from 'node:module';

const ownRequire = createRequire(import.meta.url);
const protobuf = ownRequire('protobufjs');
// The official gRPC for Node, which is a dependency of etcd3.
const grpc = createRequire(ownRequire.resolve('etcd3'))('@grpc/grpc-js');
const [socket] = process.argv.slice(2);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const field = (type, id, rule) => ({ type, id, ...(rule && { rule }) });
const root = protobuf.Root.fromJSON({
  nested: {
    SignRequest: { fields: { claims: field('string', 1) } },
    SignResponse: { fields: { header: field('string', 1), signature: field('string', 2) } },
    Nothing: { fields: {} },
    Timestamp: { fields: { seconds: field('int64', 1), nanos: field('int32', 2) } },
    Key: { fields: { keyId: field('string', 1), key: field('bytes', 2), isExcluded: field('bool', 3) } },
    FetchKeysResponse: {
      fields: { keys: field('Key', 1, 'repeated'), dataTimestamp: field('Timestamp', 2), refresh: field('int64', 3) },
    },
    MetadataResponse: { fields: { maxSeconds: field('int64', 1) } },
  },
});

/** Behaviour of each method: ok, hang, error, garbage (bytes that are no message) or huge (10 MB). */
const state = {
  Sign: 'ok',
  FetchKeys: 'ok',
  Metadata: 'ok',
  signWith: 'k1',
  keys: [{ id: 'k1' }],
  refresh: 3600,
  hasTimestamp: true,
  maxSeconds: 86_400,
  /** Fields of the header that replace the right ones. */
  header: {},
  /** Replaces the signature. */
  signature: undefined,
  /** Replaces the bytes of all keys, in base64. */
  der: undefined,
};

const pairs = new Map();

function pairOf(name) {
  let pair = pairs.get(name);
  if (!pair) pairs.set(name, (pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })));
  return pair;
}

const segment = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(name, claims) {
  const header = segment({ alg: 'ES256', kid: name, typ: 'JWT', ...state.header });
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), {
    key: pairOf(name).privateKey,
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url');
  return { header, signature: state.signature ?? signature };
}

const answers = {
  Sign: ({ claims }) => signed(state.signWith, claims),
  FetchKeys: () => ({
    keys: state.keys.map(({ id, isExcluded = false, kid = id }) => ({
      keyId: kid,
      key: state.der ?? pairOf(id).publicKey.export({ type: 'spki', format: 'der' }),
      isExcluded,
    })),
    ...(state.hasTimestamp && { dataTimestamp: { seconds: Math.floor(Date.now() / 1000) } }),
    refresh: state.refresh,
  }),
  Metadata: () => ({ maxSeconds: state.maxSeconds }),
};

function method(name, requestType, responseType) {
  const codec = root.lookupType(responseType);
  return {
    path: `/v1.ExternalJWTSigner/${name}`,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (bytes) => root.lookupType(requestType).decode(bytes),
    responseSerialize: (value) =>
      Buffer.isBuffer(value) ? value : Buffer.from(codec.encode(codec.fromObject(value)).finish()),
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  };
}

const calls = { Sign: 0, FetchKeys: 0, Metadata: 0 };
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
      return respond(null, answers[name](call.request));
  }
};

const server = new grpc.Server();
server.addService(
  {
    Sign: method('Sign', 'SignRequest', 'SignResponse'),
    FetchKeys: method('FetchKeys', 'Nothing', 'FetchKeysResponse'),
    Metadata: method('Metadata', 'Nothing', 'MetadataResponse'),
  },
  { Sign: handler('Sign'), FetchKeys: handler('FetchKeys'), Metadata: handler('Metadata') },
);

createInterface(process.stdin).on('line', (line) => {
  const { set, sign: wanted } = JSON.parse(line);
  if (set) Object.assign(state, set.signature === null ? { ...set, signature: undefined } : set);
  if (!wanted) return print({ calls });
  const { header, signature } = signed(wanted.key, wanted.claims);
  return print({ token: `${header}.${wanted.claims}.${signature}` });
});
process.stdin.on('end', () => process.exit(0));

server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  print({ listening: socket });
});
